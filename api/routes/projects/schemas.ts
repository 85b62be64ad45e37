import Type, { type Static } from 'typebox'
import { projectRoles } from '../../../domain/acting.ts'
import { requestLimits } from '../../../domain/limits.ts'
import type { SeenProject } from '../../../services/projects/index.ts'
import { Timestamp } from '../schemas.ts'

export const Role = Type.Enum([...projectRoles], {
  title: 'ProjectRole',
  about: 'What a user may do in a project.',
  description:
    'What the user may do in the project: read (`viewer`), chat (`member`), change assistants and files (`editor`), invite, set budgets and delete (`owner`).',
})

export const ProjectOwner = Type.Object(
  {
    user_id: Type.String(),
    email: Type.String({ description: 'Empty if the account has none.' }),
    first_name: Type.Optional(Type.String()),
    last_name: Type.Optional(Type.String()),
  },
  { title: 'ProjectOwner', about: 'Whose account holds a project.', description: 'Whose account holds the project.' },
)

export const Project = Type.Object(
  {
    project_id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    role: Role,
    owner: ProjectOwner,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Project', about: 'A project of the caller.' },
)

const name = Type.String({
  maxLength: requestLimits.textLength,
  description: '1 to 100 characters, unique among your projects.',
})
const description = Type.Optional(Type.String({ maxLength: requestLimits.textLength }))

export const ProjectCreateRequest = Type.Object(
  { name, description },
  { title: 'ProjectCreateRequest', about: 'A new project.' },
)
export const ProjectUpdateRequest = Type.Object(
  { name: Type.Optional(name), description },
  { title: 'ProjectUpdateRequest', about: 'The members of a project to change.' },
)
export const ProjectToken = Type.Object(
  { jwt_token: Type.String() },
  { title: 'ProjectToken', about: 'A service token that is pinned to a project.' },
)

export function toProject({ project, role, holder }: SeenProject): Static<typeof Project> {
  return {
    project_id: project._id,
    name: project.name,
    description: project.description,
    role,
    owner: toOwner(holder),
    created_at: project.created_at.toISOString(),
    updated_at: project.updated_at.toISOString(),
  }
}

export function toOwner(holder: SeenProject['holder']): Static<typeof ProjectOwner> {
  return { user_id: holder._id, email: holder.email ?? '', ...namesOf(holder) }
}

export function namesOf({ first_name: first, last_name: last }: { first_name?: string; last_name?: string }) {
  return { ...(first === undefined ? {} : { first_name: first }), ...(last === undefined ? {} : { last_name: last }) }
}
