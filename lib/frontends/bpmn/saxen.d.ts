/** The part of saxen that is used here; the package has no types. */
declare module "saxen" {
  /** A view of the current tag that changes as the parser continues. */
  export type Tag = Readonly<{
    originalName: string;
    name: string;
    attrs: Readonly<Record<string, string>> | false;
  }>;
  export type Decode = (text: string) => string;
  /** Scans the whole text up to here each time: call it once, for a fatal error. */
  export type GetContext = () => Readonly<{ line: number; column: number }>;

  export class Parser {
    constructor(options: Readonly<{ proxy: true }>);
    ns(prefixes: Readonly<Record<string, string>>): this;
    on(event: "openTag", listener: (tag: Tag) => void): this;
    on(event: "closeTag", listener: (tag: Tag) => void): this;
    on(event: "text" | "comment" | "attention", listener: (text: string) => void): this;
    on(event: "cdata" | "question", listener: (text: string) => void): this;
    on(event: "error" | "warn", listener: (error: Error, getContext: GetContext) => void): this;
    parse(xml: string): void;
    stop(): void;
  }
}
