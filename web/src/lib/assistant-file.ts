import { api, unwrap } from './api.ts'

/** Saves the assistant as a YAML file on the person's device. */
export async function saveAssistantFile(aid: string, name: string): Promise<void> {
  const { file } = await unwrap(api.GET('/assistants/{aid}/yaml', { params: { path: { aid } } }))
  const address = URL.createObjectURL(new Blob([file], { type: 'application/yaml' }))
  const link = document.createElement('a')
  link.href = address
  link.download = `${name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 100) || 'assistant'}.yaml`
  link.click()
  URL.revokeObjectURL(address)
}
