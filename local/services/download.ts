import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { run } from './command.ts'
import type { Log } from './ways.ts'

const connectLimitMs = 5_000
const wholeLimitMs = 10 * 60_000

/**
 * Fetches a .tar.gz, which must have this SHA-256, and unpacks it into `folder`, without its outermost folder when
 * `strip` is 1. An address that does not answer within five seconds counts as unreachable.
 */
export async function downloadArchive(
  url: string,
  folder: string,
  options: { sha256: string | undefined; strip: 0 | 1; log: Log },
): Promise<void> {
  if (options.sha256 === undefined) throw new Error(`no checksum is known of ${path.basename(url)}`)
  const limit = new AbortController()
  const connectTimer = setTimeout(
    () => limit.abort(new Error(`no answer within ${connectLimitMs / 1000} s`)),
    connectLimitMs,
  )
  const response = await fetch(url, { signal: limit.signal }).finally(() => clearTimeout(connectTimer))
  if (!response.ok || !response.body) throw new Error(`${new URL(url).host} answered ${response.status}`)
  options.log(`downloading ${url}`)
  const archive = path.join(folder, 'download.tar.gz')
  await pipeline(Readable.fromWeb(response.body), createWriteStream(archive), {
    signal: AbortSignal.timeout(wholeLimitMs),
  })
  const sha256 = await sha256Of(archive)
  if (sha256 !== options.sha256) throw new Error(`${url} has the checksum ${sha256} instead of ${options.sha256}`)
  await run('tar', ['-xzf', archive, '-C', folder, `--strip-components=${options.strip}`])
  await rm(archive)
}

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
