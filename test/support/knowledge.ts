import type { TestUser } from './users.ts'

export interface TestFile {
  name: string
  content: string | Uint8Array<ArrayBuffer>
  type?: string
}

/** An assistant of this user, and calls about its files. */
export async function knowledgeClient(user: TestUser, config: object = {}) {
  const { body: assistant } = await user.call('POST', '/assistants/', { name: 'Librarian', config })
  const assistantId = String(assistant.assistant_id)
  const path = `/assistants/${assistantId}/files`
  return {
    ...user,
    assistantId,
    list: () => user.call('GET', path),
    upload(files: TestFile[], query = '') {
      const form = new FormData()
      for (const { name, content, type } of files) {
        form.append('files', new Blob([content], type === undefined ? {} : { type }), name)
      }
      return user.call('POST', `${path}${query}`, form)
    },
  }
}
