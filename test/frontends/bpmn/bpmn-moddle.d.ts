/** The part of bpmn-moddle that the tests use; the package types the model, not its reader. */
declare module "bpmn-moddle" {
  export type ModdleElement = Readonly<{
    $type: string;
    id?: string;
    rootElements?: readonly ModdleElement[];
    flowElements?: readonly ModdleElement[];
    isExecutable?: boolean;
    $instanceOf(type: string): boolean;
  }>;

  export class BpmnModdle {
    constructor(packages: Readonly<Record<string, unknown>>);
    fromXML(xml: string): Promise<Readonly<{ rootElement: ModdleElement }>>;
  }
}
