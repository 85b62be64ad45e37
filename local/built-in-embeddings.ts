import { demoEmbeddings } from './demo-model-settings.ts'
import { prepareEmbeddingModel } from './services/embedding-model.ts'
import { reason } from './services/ways.ts'

/** Whether nothing names a server for embeddings. Tests name the demo model's, which need no download. */
export function wantsBuiltInEmbeddings(env: NodeJS.ProcessEnv): boolean {
  const isSet =
    env.EMBEDDING_BASE_URL ||
    env['EMBEDDING_API_KEY'] ||
    env['EMBEDDING_API_KEY_FILE'] ||
    env.OPENAI_API_KEY ||
    env['OPENAI_API_KEY_FILE'] ||
    env.OPENAI_BASE_URL ||
    env['BUILT_IN_EMBEDDINGS']
  return !isSet && env['EMBEDDING_MODEL'] !== demoEmbeddings
}

/** The value of `BUILT_IN_EMBEDDINGS`: the file of the model, or `words` if it cannot be had. */
export async function builtInEmbeddings(say: (line: string) => void): Promise<string> {
  try {
    const { value, source } = await prepareEmbeddingModel((line) => say(`> ${line}`))
    say(`> Embedding model: ${value} (${source})`)
    return value
  } catch (error) {
    say(`> Files are searched by their words alone: ${reason(error)}`)
    return 'words'
  }
}
