import { unwrap } from '../src/create-client.ts'
import type { Schemas } from '../src/create-client.ts'
import { type Command, type Values, jsonOption, textValue } from './command.ts'
import { Failure, wrongUse } from './failure.ts'
import type { Service } from './service.ts'
import { out, plainLine } from './terminal.ts'

type Project = Schemas['Project']
type Member = Schemas['ProjectMember']

const roles = ['viewer', 'member', 'editor', 'owner'] as const satisfies Schemas['ProjectRole'][]
const pageSize = 1000
const maxPages = 20

const projectOption = {
  project: { type: 'string', short: 'p', value: 'NAME', help: 'name or id; default: the project of the login' },
} as const

/** The project with that name or id among the own and the shared ones; without one, that of the token. */
async function findProject({ api, token }: Service, wanted: string | undefined): Promise<Project> {
  const all: Project[] = []
  for (let page = 0; page < maxPages; page++) {
    const call = api.GET('/projects/', { params: { query: { limit: pageSize, offset: all.length } } })
    const { response } = await call
    all.push(...(await unwrap(call)))
    if (response.headers.get('link') === null) break
  }
  const id = wanted ?? projectOf(token)
  const [found, second] = all.filter(({ project_id: own, name }) => own === id || name === wanted)
  if (found === undefined)
    throw new Failure(wanted === undefined ? 'Name a project with --project.' : `There is no project "${wanted}".`)
  if (second !== undefined) throw new Failure(`Several projects are called "${wanted}": use the id.`)
  return found
}

/** A token names its project; the service verifies it. */
function projectOf(token: string): string | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    const id: unknown = typeof claims === 'object' && claims !== null ? Reflect.get(claims, 'project_id') : undefined
    return typeof id === 'string' ? id : undefined
  } catch {
    return undefined
  }
}

interface Place {
  service: Service
  project: Project
  path: { params: { path: { project_id: string } } }
}

async function placeOf({ values, open }: { values: Values; open: () => Promise<Service> }): Promise<Place> {
  const service = await open()
  const project = await findProject(service, textValue(values['project']))
  return { service, project, path: { params: { path: { project_id: project.project_id } } } }
}

async function peopleOf({ service, path }: Place, status: Member['status']): Promise<Member[]> {
  const { members } = await unwrap(service.api.GET('/projects/{project_id}/members', path))
  return members.filter((member) => member.status === status)
}

/** The one with that address, or an id of the member or the account. */
function findPerson(people: Member[], wanted = ''): Member {
  const found = people.find(
    ({ email, member_id: id, user_id: user }) => email === wanted.toLowerCase() || id === wanted || user === wanted,
  )
  if (found === undefined) throw new Failure(`There is no "${wanted}"; see the list.`)
  return found
}

function roleOf(given: string | undefined): Schemas['ProjectRole'] {
  const role = roles.find((one) => one === given)
  if (role === undefined) throw wrongUse(`A role is ${roles.join(', ')}.`)
  return role
}

function print(value: unknown, lines: string[], asJson: boolean): void {
  out(asJson ? `${JSON.stringify(value)}\n` : lines.map((line) => `${line}\n`).join(''))
}

const nameOf = ({ first_name: first, last_name: last }: Member) => [first, last].filter(Boolean).join(' ')
const lineOf = (member: Member) =>
  [member.email || member.user_id || member.member_id, member.role, member.expires_at ?? nameOf(member)]
    .map(plainLine)
    .join('\t')

export const listMembers: Command = {
  name: 'members list',
  summary: 'List who uses a project, with roles',
  operands: '',
  takes: [0, 0],
  options: { ...projectOption, ...jsonOption },
  async run(given) {
    const members = await peopleOf(await placeOf(given), 'active')
    print(members, members.map(lineOf), given.values['json'] === true)
  },
}

export const addMember: Command = {
  name: 'members add',
  summary: 'Invite somebody by mail; once more sends another link',
  operands: 'EMAIL',
  takes: [1, 1],
  options: {
    ...projectOption,
    role: { type: 'string', short: 'r', value: 'ROLE', help: `${roles.join(', ')}; default: member` },
    ...jsonOption,
  },
  async run(given) {
    const role = roleOf(textValue(given.values['role']) ?? 'member')
    const [email = ''] = given.operands
    const { service, project, path } = await placeOf(given)
    const member = await unwrap(service.api.POST('/projects/{project_id}/members', { ...path, body: { email, role } }))
    const said = `An invitation into "${plainLine(project.name)}" as ${role} is on its way to ${plainLine(member.email)}.`
    print(member, [said], given.values['json'] === true)
  },
}

export const removeMember: Command = {
  name: 'members remove',
  summary: 'Remove somebody from a project; your own address leaves it',
  operands: 'EMAIL',
  takes: [1, 1],
  options: projectOption,
  async run(given) {
    const place = await placeOf(given)
    const { member_id } = findPerson(await peopleOf(place, 'active'), given.operands[0])
    const path = { params: { path: { ...place.path.params.path, member_id } } }
    await unwrap(place.service.api.DELETE('/projects/{project_id}/members/{member_id}', path))
    out(`${plainLine(given.operands[0] ?? '')} does not use "${plainLine(place.project.name)}" any more.\n`)
  },
}

export const setRole: Command = {
  name: 'members role',
  summary: `Change what somebody may do: ${roles.join(', ')}`,
  operands: 'EMAIL ROLE',
  takes: [2, 2],
  options: { ...projectOption, ...jsonOption },
  async run(given) {
    const [email, wanted] = given.operands
    const role = roleOf(wanted)
    const place = await placeOf(given)
    const { member_id } = findPerson(await peopleOf(place, 'active'), email)
    const path = { params: { path: { ...place.path.params.path, member_id } } }
    const changed = await unwrap(
      place.service.api.PATCH('/projects/{project_id}/members/{member_id}', { ...path, body: { role } }),
    )
    print(changed, [`${plainLine(email ?? '')}: ${changed.role}`], given.values['json'] === true)
  },
}

export const listInvitations: Command = {
  name: 'invitations list',
  summary: 'List the invitations that nobody has accepted, and when their links end',
  operands: '',
  takes: [0, 0],
  options: { ...projectOption, ...jsonOption },
  async run(given) {
    const invited = await peopleOf(await placeOf(given), 'invited')
    print(invited, invited.map(lineOf), given.values['json'] === true)
  },
}

export const revokeInvitation: Command = {
  name: 'invitations revoke',
  summary: 'Make the link of an invitation void',
  operands: 'EMAIL',
  takes: [1, 1],
  options: projectOption,
  async run(given) {
    const place = await placeOf(given)
    const { member_id } = findPerson(await peopleOf(place, 'invited'), given.operands[0])
    const path = { params: { path: { ...place.path.params.path, member_id } } }
    await unwrap(place.service.api.DELETE('/projects/{project_id}/members/{member_id}', path))
    out(`The invitation of ${plainLine(given.operands[0] ?? '')} is revoked.\n`)
  },
}
