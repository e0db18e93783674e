import type { Statement } from "@babel/types";
import { isTypeOnly } from "../frontends/code/syntax/scopes.ts";
import { isOf } from "../frontends/code/syntax/tree.ts";
import {
  type AuthorFile,
  nameIn,
  parseAuthorFile,
  SDK,
  type SdkExport,
  type SdkModule,
  sdkExportOf,
} from "./author-file.ts";
import { isPackaged, loaderOf, readEntry } from "./source-files.ts";
import { unitsOf } from "./top-level.ts";

/** Finds the file that an import leads to; undefined where it leads nowhere. */
export type FindImport = (specifier: string, importer: string) => Promise<string | undefined>;

/** A file with the paths of the files that it imports, as it names them. */
type Linked = Readonly<{ file: AuthorFile; imports: ReadonlyMap<string, string> }>;

/**
 * Reads authors' files and finds the SDK in them, also where a file of theirs passes it on, such as
 * `export * from "fermata-engine/workflow"`.
 */
export class SdkModules {
  readonly #find: FindImport;
  readonly #linked = new Map<string, Promise<Linked | undefined>>();

  constructor(find: FindImport) {
    this.#find = find;
  }

  /** A file that knows what of the SDK its imports are; undefined where it cannot be parsed. */
  async read(path: string): Promise<AuthorFile | undefined> {
    const linked = new Map<string, Linked>();
    const paths = new Set([path]);
    // A set is iterated with what is added on the way, so this follows the imports to their end.
    for (const one of paths) {
      const found = await this.#link(one);
      if (found === undefined) continue;
      linked.set(one, found);
      for (const next of found.imports.values()) paths.add(next);
    }
    return new Linkage(linked).fileAt(path);
  }

  #link(path: string): Promise<Linked | undefined> {
    const known = this.#linked.get(path) ?? this.#linkAnew(path);
    this.#linked.set(path, known);
    return known;
  }

  async #linkAnew(path: string): Promise<Linked | undefined> {
    const text = loaderOf(path) === undefined ? undefined : readEntry(path);
    if (text === undefined || (isPackaged(path) && !text.includes(SDK))) return undefined;
    const file = parseAuthorFile(path, text);
    if (file === undefined) return undefined;
    const imports = new Map<string, string>();
    for (const specifier of specifiersIn(file)) {
      const found = await this.#find(specifier, path);
      if (found !== undefined) imports.set(specifier, found);
    }
    return { file, imports };
  }
}

/** The modules that a file imports values from, without the SDK itself. */
function specifiersIn({ program }: AuthorFile): ReadonlySet<string> {
  const specifiers = program.body
    .filter((statement) => !isTypeOnly(statement))
    .flatMap((statement) => sourceOf(statement) ?? []);
  return new Set(specifiers.filter((one) => one !== SDK && !one.startsWith("node:")));
}

function sourceOf(statement: Statement): string | undefined {
  const isLink =
    isOf(statement, "ImportDeclaration", "ExportAllDeclaration") ||
    isOf(statement, "ExportNamedDeclaration");
  return isLink ? statement.source?.value : undefined;
}

/** What files export of the SDK, once all that they import is read. */
class Linkage {
  readonly #linked: ReadonlyMap<string, Linked>;
  readonly #known = new Map<string, SdkExport | undefined>();

  constructor(linked: ReadonlyMap<string, Linked>) {
    this.#linked = linked;
  }

  /** A file with the modules that it imports. */
  fileAt(path: string): AuthorFile | undefined {
    const linked = this.#linked.get(path);
    if (linked === undefined) return undefined;
    const { file, imports } = linked;
    const found = Array.from(imports, ([name, target]) => [name, this.#moduleAt(target)] as const);
    return { ...file, modules: new Map([...file.modules, ...found]) };
  }

  #moduleAt(path: string): SdkModule {
    return (exported) => {
      const question = JSON.stringify([path, exported]);
      if (this.#known.has(question)) return this.#known.get(question);
      // Files may export from each other in a circle: there is nothing new on the second way round.
      this.#known.set(question, undefined);
      const file = this.fileAt(path);
      const found = file === undefined ? undefined : exportOf(exported, file);
      this.#known.set(question, found);
      return found;
    };
  }
}

/** What a file exports of the SDK under a name. */
function exportOf(exported: string, file: AuthorFile): SdkExport | undefined {
  if (declaresExport(exported, file)) return undefined;
  const named = namedExport(exported, file);
  return named.isThere ? named.found : starExport(exported, file);
}

/** Whether a file exports something of its own under a name. */
function declaresExport(exported: string, file: AuthorFile): boolean {
  return unitsOf(file).some(
    ({ isExported, declares }) => isExported && declares.some(({ name }) => name === exported),
  );
}

type Named = Readonly<{ isThere: boolean; found?: SdkExport | undefined }>;

function namedExport(exported: string, file: AuthorFile): Named {
  for (const statement of file.program.body) {
    if (isTypeOnly(statement)) continue;
    if (isOf(statement, "ExportDefaultDeclaration") && exported === "default") {
      return { isThere: true, found: sdkExportOf(statement.declaration, file) };
    }
    if (!isOf(statement, "ExportNamedDeclaration")) continue;
    const specifier = statement.specifiers.find((one) => nameIn(one.exported) === exported);
    if (specifier === undefined || isTypeOnly(specifier)) continue;
    const module = moduleAt(statement.source?.value, file);
    if (!isOf(specifier, "ExportSpecifier")) return { isThere: true, found: module };
    const found =
      statement.source == null
        ? sdkExportOf(specifier.local, file)
        : module?.(nameIn(specifier.local));
    return { isThere: true, found };
  }
  return { isThere: false };
}

/** `export *` exports everything but the default. */
function starExport(exported: string, file: AuthorFile): SdkExport | undefined {
  if (exported === "default") return undefined;
  for (const statement of file.program.body) {
    if (!isOf(statement, "ExportAllDeclaration") || isTypeOnly(statement)) continue;
    const found = moduleAt(statement.source.value, file)?.(exported);
    if (found !== undefined) return found;
  }
  return undefined;
}

const moduleAt = (specifier: string | undefined, { modules }: AuthorFile): SdkModule | undefined =>
  specifier === undefined ? undefined : modules.get(specifier);
