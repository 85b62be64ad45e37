import Type from 'typebox'
import Value from 'typebox/value'
import { type Answer, type ControlPlane, startControlPlane } from './control-plane.ts'

const Condition = Type.Object({ type: Type.String(), status: Type.String() })
const KubernetesObject = Type.Object({
  apiVersion: Type.String(),
  kind: Type.String(),
  metadata: Type.Object({ name: Type.String() }),
  status: Type.Optional(
    Type.Object({
      conditions: Type.Optional(Type.Union([Type.Null(), Type.Array(Condition)])),
    }),
  ),
})
const ListOfResources = Type.Object({
  resources: Type.Array(Type.Object({ name: Type.String(), kind: Type.String(), namespaced: Type.Boolean() })),
})
const Event = Type.Object({ type: Type.String(), object: KubernetesObject })

export type Cluster = Awaited<ReturnType<typeof startCluster>>

/** An API server, with what a test asks of it. */
export async function startCluster(options: Parameters<typeof startControlPlane>[0]) {
  const plane = await startControlPlane(options)
  const { call } = plane

  async function accepted(asked: Promise<Answer>): Promise<Answer> {
    const answer = await asked
    if (answer.status >= 300)
      throw new Error(`the API server answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer
  }

  /** Where objects of this kind are, by what the server says of itself. */
  async function pathOf(namespace: string, object: unknown): Promise<string> {
    const { apiVersion, kind } = Value.Parse(KubernetesObject, object)
    const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const { resources } = Value.Parse(ListOfResources, (await accepted(call('GET', group))).body)
    const found = resources.find((resource) => resource.kind === kind && !resource.name.includes('/'))
    if (found === undefined) throw new Error(`the API server has no ${kind} of ${apiVersion}`)
    return found.namespaced ? `${group}/namespaces/${namespace}/${found.name}` : `${group}/${found.name}`
  }

  return {
    ...plane,
    accepted,
    pathOf,
    /** A namespace, whose pods must be as the standard of this name says. */
    addNamespace: (name: string, podSecurity = 'restricted') =>
      accepted(
        call('POST', '/api/v1/namespaces', {
          metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': podSecurity } },
        }),
      ),
    /** Adds a custom resource definition, and waits until the server knows it. */
    async define(definition: unknown): Promise<void> {
      const at = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
      const ended = new AbortController()
      await accepted(call('POST', at, definition))
      for await (const event of plane.watch(at, ended.signal)) {
        const { object } = Value.Parse(Event, event)
        const isKnown = object.status?.conditions?.some(
          ({ type, status }) => type === 'Established' && status === 'True',
        )
        if (object.metadata.name === nameOf(definition) && isKnown === true) break
      }
      ended.abort()
    },
    /** Applies an object as `kubectl apply --server-side` does, without storing it; unknown members are refused. */
    async tryApply(namespace: string, object: unknown): Promise<Answer> {
      const query = 'dryRun=All&fieldManager=test&fieldValidation=Strict&force=true'
      const at = `${await pathOf(namespace, object)}/${nameOf(object)}?${query}`
      return call('PATCH', at, object, 'application/apply-patch+yaml')
    },
    /** Says of each job of the namespace that it has succeeded, as a controller does, until `end`. */
    completeJobs: (namespace: string) => completeJobs(plane, namespace),
  }
}

const nameOf = (object: unknown) => Value.Parse(KubernetesObject, object).metadata.name

function completeJobs({ call, watch }: ControlPlane, namespace: string) {
  const at = `/apis/batch/v1/namespaces/${namespace}/jobs`
  const ended = new AbortController()
  let completed = 0
  const refused: string[] = []
  async function complete() {
    for await (const event of watch(at, ended.signal)) {
      const { type, object } = Value.Parse(Event, event)
      if (type !== 'ADDED') continue
      const now = new Date().toISOString()
      const conditions = ['SuccessCriteriaMet', 'Complete'].map((name) => ({
        type: name,
        status: 'True',
        lastProbeTime: now,
        lastTransitionTime: now,
      }))
      const status = { startTime: now, completionTime: now, succeeded: 1, conditions }
      const answer = await call(
        'PATCH',
        `${at}/${object.metadata.name}/status`,
        { status },
        'application/merge-patch+json',
      )
      if (answer.status === 200) completed++
      else refused.push(JSON.stringify(answer.body))
    }
  }
  const completing = complete().catch((error: unknown) => {
    if (!ended.signal.aborted) refused.push(String(error))
  })
  return {
    async end(): Promise<{ completed: number; refused: string[] }> {
      ended.abort()
      await completing
      return { completed, refused }
    },
  }
}
