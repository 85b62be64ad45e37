import type { newUser } from './http.ts'
import type { TestService } from './service.ts'

export interface TestFile {
  name: string
  content: string | Uint8Array<ArrayBuffer>
  type?: string
}

type User = Awaited<ReturnType<typeof newUser>>

/** An assistant of this user, and calls about its files. */
export async function knowledgeClient(service: Pick<TestService, 'url'>, user: User, config: object = {}) {
  const { body: assistant } = await user.call('POST', '/assistants/', { name: 'Librarian', config })
  const assistantId = String(assistant.assistant_id)
  const path = `/assistants/${assistantId}/files`
  return {
    ...user,
    assistantId,
    list: () => user.call('GET', path),
    async upload(files: TestFile[], query = '') {
      const form = new FormData()
      for (const { name, content, type } of files) {
        form.append('files', new Blob([content], type === undefined ? {} : { type }), name)
      }
      const response = await fetch(`${service.url}${path}${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${user.token}` },
        body: form,
      })
      const body: ReturnType<typeof JSON.parse> = await response.json()
      return { status: response.status, body }
    },
  }
}
