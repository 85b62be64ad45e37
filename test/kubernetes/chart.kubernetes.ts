import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { isJsonObject } from '../../domain/json.ts'
import { run } from '../../local/services/command.ts'
import { goModule } from '../../local/services/go-install.ts'
import { documentedCommands } from '../containers/documented.ts'
import { helmProgram, keda, prometheusOperator } from '../deploy/chart-programs.ts'
import { goProgram } from '../deploy/go-program.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { prepareKubernetes, releases } from './programs.ts'

const root = path.join(import.meta.dirname, '../..')
/** The version that is upgraded: the commit before, or another. */
const from = process.env['CHART_FROM'] ?? 'HEAD~1'
const values = {
  image: { tag: '1.1.0' },
  ingress: { enabled: true, tlsSecret: 'tls' },
  serviceMonitor: { enabled: true },
  versioning: { enabled: true },
  persistence: { existingClaim: 'data' },
}
const scaled = { autoscaling: { enabled: true } }
const everything = { ...values, workers: { runs: scaled, documents: scaled } }
const kindsOfAll = {
  Deployment: 4,
  Ingress: 1,
  Job: 1,
  NetworkPolicy: 2,
  PodDisruptionBudget: 2,
  ScaledObject: 2,
  Service: 2,
  ServiceMonitor: 1,
}

/** What the API server itself says of the chart: nothing stands in for it, and no controller acts on what it stores. */
describe.each(releases)('the chart on the API server of Kubernetes $version', (release) => {
  let folder: string
  let helmFolder: string
  let cluster: Cluster

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'kubernetes-'))
    helmFolder = path.dirname(await goProgram('helm', helmProgram))
    const programs = await prepareKubernetes(release, console.log)
    cluster = await startCluster({ ...programs, dir: path.join(folder, 'cluster') })
    const [ofKeda, ofOperator] = await Promise.all([goModule(keda), goModule(prometheusOperator)])
    for (const file of [
      path.join(ofKeda, 'config/crd/bases/keda.sh_scaledobjects.yaml'),
      path.join(ofOperator, 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml'),
    ])
      await cluster.define(parse(await readFile(file, 'utf8')))
    await symlink(path.join(root, 'deploy'), path.join(folder, 'deploy'))
    await writeFile(path.join(folder, 'my-values.yaml'), JSON.stringify(everything))
    await mkdir(path.join(folder, 'before'))
    await run('sh', ['-euc', `git archive ${from} deploy/helm | tar -x -C ${path.join(folder, 'before')}`], {
      cwd: root,
    })
  }, 3_600_000)
  afterAll(async () => {
    await cluster?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const shell = (namespace: string, commands: string) =>
    run('sh', ['-euc', commands], {
      cwd: folder,
      env: {
        PATH: `${helmFolder}:${process.env['PATH']}`,
        HOME: folder,
        KUBECONFIG: cluster.kubeconfig,
        HELM_NAMESPACE: namespace,
      },
      timeoutMs: 300_000,
    })
  async function render(): Promise<Record<string, unknown>[]> {
    const text = await shell(
      'default',
      `helm template assistants deploy/helm --values my-values.yaml --kube-version ${release.version}`,
    )
    return parseAllDocuments(text)
      .map((document): unknown => document.toJS())
      .filter(isJsonObject)
  }

  const members = (object: unknown, ...names: string[]): unknown =>
    names.reduce<unknown>((value, name) => (isJsonObject(value) ? value[name] : undefined), object)
  const listed = async (at: string) => {
    const { items } = (await cluster.accepted(cluster.call('GET', at))).body
    return Array.isArray(items) ? items.filter(isJsonObject) : []
  }
  const kindsIn = (objects: Record<string, unknown>[]) =>
    Object.fromEntries(
      Object.entries(Object.groupBy(objects, ({ kind }) => String(kind))).map(([kind, all]) => [kind, all?.length]),
    )

  it('is installed in the version before, upgraded, and rolled back by Helm', async () => {
    await cluster.addNamespace('assistants')
    const jobs = cluster.completeJobs('assistants')
    await shell('assistants', 'helm install assistants before/deploy/helm --values my-values.yaml')
    const installed = await listed('/apis/apps/v1/namespaces/assistants/deployments')
    await shell('assistants', 'helm upgrade assistants deploy/helm --values my-values.yaml --set image.tag=1.2.0')
    const upgraded = await listed('/apis/apps/v1/namespaces/assistants/deployments')
    await shell('assistants', 'helm rollback assistants 1')
    const back = await listed('/apis/apps/v1/namespaces/assistants/deployments')
    // The migrations of the two versions: the way back runs none.
    expect(await jobs.end()).toEqual({ completed: 2, refused: [] })

    const imagesOf = (deployments: Record<string, unknown>[]) =>
      deployments.map((one) =>
        [...JSON.stringify(one['spec']).matchAll(/"image":"([^"]+)"/g)].map(([, image]) => image).join(),
      )
    expect(imagesOf(installed)).toEqual(Array(4).fill('assistant-platform:1.1.0'))
    expect(imagesOf(upgraded)).toEqual(Array(4).fill('assistant-platform:1.2.0'))
    expect(back.map((one) => one['spec'])).toEqual(installed.map((one) => one['spec']))
    const history: unknown = JSON.parse(await shell('assistants', 'helm history assistants --output json'))
    expect(history).toMatchObject(['superseded', 'superseded', 'deployed'].map((status) => ({ status })))
    await shell('assistants', 'helm uninstall assistants')
    expect(await listed('/apis/apps/v1/namespaces/assistants/deployments')).toEqual([])
  })

  it('is upgraded by builds as its page says', async () => {
    const [upgrade = ''] = await documentedCommands('kubernetes.md', 'Upgrade')
    await cluster.addNamespace('builds')
    const jobs = cluster.completeJobs('builds')
    const withoutScaling = { ...everything, workers: {} }
    await writeFile(path.join(folder, 'my-values.yaml'), JSON.stringify(withoutScaling))
    await shell('builds', 'helm install assistants deploy/helm --values my-values.yaml --set image.tag=1.0.0')
    const [beside = ''] = upgrade.split('# then')
    await shell('builds', beside.replaceAll('1.1.0', '1.0.0').replaceAll('1-1-0', '1-0-0'))
    await shell('builds', upgrade)
    await jobs.end()
    const deployments = await listed('/apis/apps/v1/namespaces/builds/deployments')
    const replicas = Object.fromEntries(
      deployments.map((one) => [members(one, 'metadata', 'name'), members(one, 'spec', 'replicas')]),
    )
    await writeFile(path.join(folder, 'my-values.yaml'), JSON.stringify(everything))
    expect(replicas).toEqual({
      'assistants-api': 2,
      'assistants-worker-documents': 0,
      'assistants-worker-other': 0,
      'assistants-worker-runs': 0,
      'workers-1-1-0-api': 0,
      'workers-1-1-0-worker-documents': 1,
      'workers-1-1-0-worker-other': 1,
      'workers-1-1-0-worker-runs': 2,
    })
  })

  it('has only objects that the server takes without a warning, and refuses when a member is wrong', async () => {
    await cluster.addNamespace('strict')
    const objects = await render()
    expect(kindsIn(objects)).toEqual(kindsOfAll)
    for (const object of objects) {
      const { status, body, warning } = await cluster.tryApply('strict', object)
      expect({ status, warning }, JSON.stringify(body)).toEqual({ status: 201, warning: null })
    }
    const wrong = async (kind: string, right: string, changed: string) => {
      const text = JSON.stringify(objects.find((object) => object['kind'] === kind))
      expect(text).toContain(right)
      const { status, body } = await cluster.tryApply('strict', JSON.parse(text.replace(right, changed)))
      return `${status} ${String(body['message'])}`
    }
    expect(await wrong('Deployment', 'terminationGracePeriodSeconds', 'graceSeconds')).toMatch(/^[45].*graceSeconds/)
    expect(await wrong('NetworkPolicy', 'policyTypes', 'policies')).toMatch(/^[45].*policies/)
    expect(await wrong('PodDisruptionBudget', '"maxUnavailable":1', '"maxUnavailable":-1')).toMatch(
      /^422 .*maxUnavailable/,
    )
    expect(await wrong('ScaledObject', 'minReplicaCount', 'minReplicas')).toMatch(/^[45].*minReplicas/)
    expect(await wrong('ServiceMonitor', '"15s"', '"soon"')).toMatch(/^422 .*interval/)
  })

  it('makes pods that the strictest standard admits, and whose labels its budgets, policies and services choose', async () => {
    await cluster.addNamespace('pods')
    const objects = await render()
    const templates = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
    const podOf = (object: unknown) => ({
      spec: members(object, 'spec', 'template', 'spec'),
      metadata: {
        name: members(object, 'metadata', 'name'),
        labels: members(object, 'spec', 'template', 'metadata', 'labels'),
      },
    })
    for (const object of templates)
      await cluster.accepted(cluster.call('POST', '/api/v1/namespaces/pods/pods', podOf(object)))
    const text = JSON.stringify(podOf(templates[0])).replace(
      '"allowPrivilegeEscalation":false',
      '"allowPrivilegeEscalation":true',
    )
    const refused = await cluster.call('POST', '/api/v1/namespaces/pods/pods', JSON.parse(text))
    expect(refused.status).toBe(403)
    expect(refused.body['message']).toMatch(/allowPrivilegeEscalation/)

    for (const object of objects) {
      const chosen =
        members(object, 'spec', 'selector', 'matchLabels') ??
        members(object, 'spec', 'podSelector', 'matchLabels') ??
        (object['kind'] === 'Service' ? members(object, 'spec', 'selector') : undefined)
      if (!isJsonObject(chosen) || object['apiVersion'] === 'monitoring.coreos.com/v1') continue
      const selector = Object.entries(chosen)
        .map(([name, value]) => `${name}=${String(value)}`)
        .join(',')
      const pods = await listed(`/api/v1/namespaces/pods/pods?labelSelector=${encodeURIComponent(selector)}`)
      expect(pods.length, `${String(object['kind'])} ${String(members(object, 'metadata', 'name'))}`).toBeGreaterThan(0)
    }
    // What the server made of them, with its own defaults.
    for (const pod of await listed('/api/v1/namespaces/pods/pods')) {
      const [container] = [members(pod, 'spec', 'containers')].flat()
      const isJob = members(pod, 'metadata', 'name') === 'assistants-migrations'
      expect(members(container, 'livenessProbe', 'httpGet', 'path') !== undefined).toBe(!isJob)
      expect(members(container, 'startupProbe', 'failureThreshold')).toBe(isJob ? undefined : 110)
    }
  })
})
