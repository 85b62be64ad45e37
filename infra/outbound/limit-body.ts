import { AppError } from '../../domain/errors.ts'

/** The same response, but reading more than `maxBytes` of its body (unpacked) is an error. */
export function limitBody(response: Response, maxBytes: number): Response {
  if (response.body === null) return response
  let left = maxBytes
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= chunk.byteLength
      if (left >= 0) controller.enqueue(chunk)
      else controller.error(new AppError('upstream_failed', 'The answer is too long.'))
    },
  })
  const { status, statusText } = response
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers: [...response.headers] })
}
