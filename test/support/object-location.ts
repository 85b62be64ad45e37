import { randomBytes } from 'node:crypto'
import { type ObjectLocation, parseLocation } from '../../infra/objects/location.ts'

export const testKey = { accessKeyId: 'test-key', secretAccessKey: randomBytes(16).toString('hex') }

/** What `BLOBS_URL` names. */
export function locationOf(url: string): ObjectLocation {
  const location = parseLocation(url)
  if (typeof location === 'string') throw new Error(location)
  return location
}

/** The list of versions, or of unfinished uploads, that a request asks for. */
export function listOf(url = '', entries = ''): string {
  const root = url.includes('versions') ? 'ListVersionsResult' : 'ListMultipartUploadsResult'
  return `<${root}>${entries}</${root}>`
}
