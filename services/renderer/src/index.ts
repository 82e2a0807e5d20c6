export { DEFAULT_OPTIONS, type RendererOptions } from "./context.ts";
export { createRenderer, Renderer, type RendererEnv } from "./renderer.ts";
export { rendererService } from "./service.ts";
