import { demoModel } from '../domain/model-catalog.ts'

/** Whether the environment names no model, and the demo model is not turned off. */
export function wantsDemoModel(env: NodeJS.ProcessEnv): boolean {
  return !env.OPENAI_API_KEY && !env.OPENAI_BASE_URL && env.DEMO_MODEL?.toLowerCase() !== 'off'
}

/** The demo model's vectors of hashed words: `EMBEDDING_MODEL` of tests. */
export const demoEmbeddings = 'demo-embedding'

/** The settings that make the service use the demo model on that port; an embedding server in `env` is kept. */
export function demoModelEnv(port: number, env: NodeJS.ProcessEnv = {}): Record<string, string> {
  return {
    DEMO_MODEL: 'on',
    OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
    OPENAI_API_KEY: 'demo',
    // With MODELS, the demo model only embeds files.
    DEFAULT_MODEL: ((env.MODELS || env.MODELS_FILE) && env.DEFAULT_MODEL) || demoModel,
    ...(env.EMBEDDING_BASE_URL ? {} : { EMBEDDING_MODEL: demoEmbeddings, EMBEDDING_DIMENSIONS: '512' }),
  }
}
