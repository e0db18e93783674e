/** As much of WebAssembly as the driver uses: Node has all of it, its types do not. */
export type Memory = Readonly<{ buffer: ArrayBuffer; grow(pages: number): number }>;
export type GlobalNumber = { value: number };
export type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
export type CompiledModule = object;

/** Bytes of a page, the unit in which memory grows. */
export const PAGE_BYTES = 65_536;

type Api = Readonly<{
  Module: (new (
    bytes: Uint8Array,
  ) => CompiledModule) &
    Readonly<{ imports(module: CompiledModule): readonly Readonly<{ name: string }>[] }>;
  Instance: new (
    module: CompiledModule,
    imports: Imports,
  ) => Readonly<{ exports: Readonly<Record<string, unknown>> }>;
}>;

const api = (globalThis as unknown as Readonly<{ WebAssembly: Api }>).WebAssembly;

export const compile = (bytes: Uint8Array): CompiledModule => new api.Module(bytes);

export const importsOf = (module: CompiledModule): readonly Readonly<{ name: string }>[] =>
  api.Module.imports(module);

export const instantiate = (
  module: CompiledModule,
  imports: Imports,
): Readonly<Record<string, unknown>> => new api.Instance(module, imports).exports;
