import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import tls from 'node:tls'
import { isJsonObject, parseOwnJson } from '../../domain/json.ts'
import { httpAnswer } from '../../local/services/http-answer.ts'
import { freePort } from '../../local/services/ports.ts'
import { type ServerProcess, startServer } from '../../local/services/server-process.ts'

/** An answer of the API server, with what it warns of, such as versions that will go. */
export interface Answer {
  status: number
  body: Record<string, unknown>
  warning: string | null
}

export type ControlPlane = Awaited<ReturnType<typeof startControlPlane>>

/**
 * etcd and an API server on it, without controllers, scheduler and nodes: it stores what it accepts, and nothing comes of
 * it. The administrator's token is in `kubeconfig`.
 */
export async function startControlPlane({ apiServer, etcd, dir }: { apiServer: string; etcd: string; dir: string }) {
  const started: ServerProcess[] = []
  const close = async () => {
    for (const server of started.toReversed()) await server.stop()
  }
  try {
    await mkdir(dir, { recursive: true })
    const { url: etcdUrl, server } = await startEtcd(etcd, dir)
    started.push(server)
    const api = await startApiServer(apiServer, dir, etcdUrl)
    started.push(api.server)
    return { kubeconfig: await writeKubeconfig(dir, api), ...clientOf(api), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function startEtcd(command: string, dir: string) {
  const [url, peerUrl] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  const args = [
    ['--name', 'one', '--data-dir', path.join(dir, 'etcd'), '--unsafe-no-fsync'],
    ['--listen-client-urls', url, '--advertise-client-urls', url],
    ['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl, '--initial-cluster', `one=${peerUrl}`],
  ].flat()
  const ready = async () => (await httpAnswer(`${url}/health`, 1_000)) !== undefined
  const logFile = path.join(dir, 'etcd.log')
  return { url, server: await startServer({ name: 'etcd', command, args, cwd: dir, logFile, ready }, undefined) }
}

interface Api {
  url: string
  token: string
  certificate: string
}

async function startApiServer(command: string, dir: string, etcdUrl: string): Promise<Api & { server: ServerProcess }> {
  const port = await freePort()
  const api = {
    url: `https://127.0.0.1:${port}`,
    token: randomUUID(),
    certificate: path.join(dir, 'certificates/apiserver.crt'),
  }
  const [tokens, accounts] = [path.join(dir, 'tokens.csv'), path.join(dir, 'accounts.key')]
  await writeFile(tokens, `${api.token},admin,admin,system:masters\n`)
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  await writeFile(accounts, privateKey.export({ type: 'pkcs1', format: 'pem' }))
  const args = [
    ['--etcd-servers', etcdUrl, '--bind-address', '127.0.0.1', '--secure-port', String(port)],
    ['--advertise-address', '127.0.0.1', '--endpoint-reconciler-type', 'none'],
    ['--cert-dir', path.dirname(api.certificate), '--token-auth-file', tokens, '--authorization-mode', 'RBAC'],
    ['--service-cluster-ip-range', '10.0.0.0/24', '--service-account-issuer', 'https://kubernetes.default.svc'],
    ['--service-account-key-file', accounts, '--service-account-signing-key-file', accounts],
    // A controller makes the account that this plugin gives to each pod.
    ['--disable-admission-plugins', 'ServiceAccount'],
  ].flat()
  let isTrusted = false
  const ready = async () => {
    // Its certificate is signed by an authority that it makes at its start.
    if (!isTrusted && existsSync(api.certificate)) {
      tls.setDefaultCACertificates([...tls.getCACertificates('default'), await readFile(api.certificate, 'utf8')])
      isTrusted = true
    }
    const answer = isTrusted ? await ask(api, 'GET', '/readyz').catch(() => undefined) : undefined
    await answer?.body?.cancel()
    return answer?.status === 200
  }
  const logFile = path.join(dir, 'api-server.log')
  const name = 'kube-apiserver'
  const process = { name, command, args, cwd: dir, logFile, ready, readyLimitMs: 300_000 }
  return { ...api, server: await startServer(process, undefined) }
}

async function writeKubeconfig(dir: string, { url, token, certificate }: Api): Promise<string> {
  const file = path.join(dir, 'kubeconfig')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster: { server: url, 'certificate-authority': certificate } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'context', context: { cluster: 'cluster', user: 'admin' } }],
    'current-context': 'context',
  }
  // JSON is YAML.
  await writeFile(file, JSON.stringify(config))
  return file
}

type More = { body?: string; type?: string; signal?: AbortSignal }

const ask = ({ url, token }: Api, method: string, at: string, { body, type = 'application/json', signal }: More = {}) =>
  fetch(`${url}${at}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': type }) },
    body,
    signal,
  })

function clientOf(api: Api) {
  async function call(method: string, at: string, body?: unknown, type?: string): Promise<Answer> {
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const answer = await ask(api, method, at, { body: sent, type })
    const read: unknown = parseOwnJson(await answer.text())
    return { status: answer.status, body: isJsonObject(read) ? read : {}, warning: answer.headers.get('warning') }
  }

  /** What becomes of the objects of a list, from now on, until `signal` is aborted. */
  async function* watch(at: string, signal: AbortSignal): AsyncGenerator<Record<string, unknown>> {
    const { body } = await ask(api, 'GET', `${at}?watch=true`, { signal })
    let rest = ''
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + piece).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield parseOwnJson(line)
    }
  }

  return { call, watch }
}
