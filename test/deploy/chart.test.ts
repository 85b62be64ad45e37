import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadSettings } from '../../infra/config.ts'
import { settingsIn } from '../../infra/settings/schema.ts'
import { goModule } from '../../local/services/go-install.ts'
import { pythonPrograms } from '../support/python-packages.ts'
import { helmProgram, keda, prometheusOperator } from './chart-programs.ts'
import { goProgram } from './go-program.ts'
import { runProgram } from './run-program.ts'

const chart = path.join(import.meta.dirname, '../../deploy/helm')
const kubernetes = '1.31'
const validator = 'kubernetes-validate==1.37.0'
/** All that can be switched on. */
const everything = [
  'workers.runs.autoscaling.enabled=true',
  'workers.documents.autoscaling.enabled=true',
  'serviceMonitor.enabled=true',
  'ingress.enabled=true',
  'ingress.tlsSecret=tls',
  'versioning.enabled=true',
  'persistence.existingClaim=data',
].flatMap((value) => ['--set', value])

/** The Helm chart, rendered by Helm and checked against the schemas of Kubernetes, KEDA and the Prometheus operator. */
describe('the chart', () => {
  let helm: string
  let python: string
  let folder: string
  /** KEDA's parameters of scalers, then the custom resource definitions. */
  let definitions: string[]
  beforeAll(async () => {
    // A first run builds Helm, which takes a minute on a quiet machine and many on a busy one.
    helm = await goProgram('helm', helmProgram)
    python = path.join(await pythonPrograms('chart', [validator]), 'python')
    const [ofKeda, ofOperator] = await Promise.all([goModule(keda), goModule(prometheusOperator)])
    definitions = [
      path.join(ofKeda, 'schema/generated/scalers-schema.json'),
      path.join(ofKeda, 'config/crd/bases/keda.sh_scaledobjects.yaml'),
      path.join(ofOperator, 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml'),
    ]
    folder = await mkdtemp(path.join(tmpdir(), 'chart-'))
  }, 1_800_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const template = ['template', 'assistants', chart, '--kube-version', `${kubernetes}.0`]
  const rendered = new Map<string, Promise<string>>()
  /** Each set of options once. */
  function render(...options: string[]): Promise<string> {
    const key = options.join(' ')
    const result = rendered.get(key) ?? runProgram(helm, [...template, ...options])
    rendered.set(key, result)
    return result
  }
  const documents = (text: string) => text.split(/^---$/m).filter((part) => /^kind:/m.test(part))
  const kindOf = (document: string) => /^kind: (\w+)/m.exec(document)?.[1] ?? ''
  const isOfKubernetes = (document: string) => !/^apiVersion: (keda\.sh|monitoring\.coreos\.com)\//m.test(document)
  async function validate(text: string): Promise<string> {
    const file = path.join(folder, 'rendered.yaml')
    await writeFile(file, documents(text).filter(isOfKubernetes).join('\n---\n'))
    return runProgram(python, ['-m', 'kubernetes_validate', '--strict', '--kubernetes-version', kubernetes, file])
  }

  async function validateCustom(text: string): Promise<string> {
    const file = path.join(folder, 'custom.yaml')
    await writeFile(
      file,
      documents(text)
        .filter((document) => !isOfKubernetes(document))
        .join('\n---\n'),
    )
    return runProgram(python, [path.join(import.meta.dirname, 'custom_resources.py'), file, ...definitions])
  }

  it('passes the linter of Helm', async () => {
    expect(await runProgram(helm, ['lint', '--strict', chart])).toContain('0 chart(s) failed')
  })

  it('renders valid Kubernetes resources, with its defaults and with all options', async () => {
    for (const options of [[], everything]) {
      const resources = await render(...options)
      const checked = await validate(resources)
      const count = documents(resources).filter(isOfKubernetes).length
      expect(checked.match(/ passed for resource /g) ?? []).toHaveLength(count)
      expect(count).toBeGreaterThan(8)
    }
    const wrong = (await render()).replace('terminationGracePeriodSeconds', 'graceSeconds')
    await expect(validate(wrong)).rejects.toThrow(/graceSeconds/)
  })

  it('renders valid resources of KEDA and of the Prometheus operator', async () => {
    const unversioned = everything.map((option) =>
      option.replace('versioning.enabled=true', 'versioning.enabled=false'),
    )
    for (const options of [everything, unversioned])
      expect((await validateCustom(await render(...options))).match(/: valid$/gm)).toHaveLength(3)
    const resources = await render(...everything)
    for (const [right, wrong, reason] of [
      ['minReplicaCount', 'minReplicas', /'minReplicas' was unexpected/],
      ['targetQueueSize: "50"', 'targetQueueSize: 50', /50 is not of type 'string'/],
      ['workerDeploymentName', 'deployment', /deployment is not a parameter of temporal/],
      ['interval: 15s', 'interval: soon', /'soon' does not match/],
      ['monitoring.coreos.com/v1', 'monitoring.coreos.com/v2', /no CRD describes it/],
    ] as const) {
      const changed = resources.replace(right, wrong)
      expect(changed).not.toBe(resources)
      await expect(validateCustom(changed)).rejects.toThrow(reason)
    }
  })

  it('has the objects that its page lists', async () => {
    const kinds: Record<string, number> = {}
    for (const kind of documents(await render(...everything)).map(kindOf)) kinds[kind] = (kinds[kind] ?? 0) + 1
    expect(kinds).toEqual({
      Deployment: 4,
      Ingress: 1,
      Job: 1,
      NetworkPolicy: 2,
      PodDisruptionBudget: 2,
      ScaledObject: 2,
      Service: 2,
      ServiceMonitor: 1,
    })
  })

  it('runs every process without capabilities and with a read-only root file system', async () => {
    const pods = documents(await render(...everything)).filter((text) => ['Deployment', 'Job'].includes(kindOf(text)))
    expect(pods).toHaveLength(5)
    for (const pod of pods) {
      expect(pod).toMatch(/runAsNonRoot: true/)
      expect(pod).toMatch(/readOnlyRootFilesystem: true/)
      expect(pod).toMatch(/drop: \[ALL\]/)
      expect(pod).toMatch(/automountServiceAccountToken: false/)
      // More than what the service allows open streams and activities.
      expect(pod).toMatch(/terminationGracePeriodSeconds: 90/)
    }
  })

  it('sets only known settings, and every secret as a file', async () => {
    const [api = ''] = documents(await render(...everything)).filter((text) => text.includes('dist/api.mjs'))
    const variables = [...api.matchAll(/- name: ([A-Z0-9_]+)\n\s+value: (.*)/g)].map(([, name = '', value = '']) => {
      const plain = value.replaceAll(/^["']|["']$/g, '')
      return [name, plain] as const
    })
    const env = Object.fromEntries(variables.filter(([name]) => !name.endsWith('_FILE')))
    const files = variables.filter(([name]) => name.endsWith('_FILE'))
    expect(files.map(([name]) => name)).toContain('SECRETS_KEY_FILE')
    for (const [name, file] of files) expect(file).toBe(`/run/secrets/assistant-platform/${name.replace(/_FILE$/, '')}`)
    const secrets = {
      SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
      JWT_SECRET: 'x'.repeat(40),
    }
    expect(loadSettings({ NODE_ENV: 'production', ...env, ...secrets })).toMatchObject({
      vectorStore: 'qdrant',
      qdrantUrl: 'http://qdrant.qdrant:6333',
      workerVersion: ['assistant-platform', '1.0.0'],
      schemaWaitSeconds: 300,
      runsInApi: true,
    })
    const names = settingsIn().map((setting) => setting.env)
    for (const [name] of variables) expect(names).toContain(name.replace(/_FILE$/, ''))
  })

  it('is refused when a task queue has no worker', async () => {
    await expect(render('--set', 'workers.other.queues={accounts}')).rejects.toThrow(/serves the queue deletions/)
  })
})
