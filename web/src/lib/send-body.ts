import { ApiError, tokenOf } from './api.ts'

/** Uses XMLHttpRequest, because `fetch` does not report how much of a body has been sent. */
export function sendBody<Answer>(
  path: string,
  body: FormData | File,
  { contentType, onProgress }: { contentType?: string; onProgress: (progress: number) => void },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', path)
    request.setRequestHeader('authorization', `Bearer ${tokenOf() ?? ''}`)
    if (contentType !== undefined) request.setRequestHeader('content-type', contentType)
    request.responseType = 'json'
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total))
    request.addEventListener('load', () => {
      const answer: unknown = request.response
      if (request.status === 200) resolve(answer as Answer)
      else reject(new ApiError(request.status, answer))
    })
    request.addEventListener('error', () => reject(new TypeError('network')))
    request.send(body)
  })
}
