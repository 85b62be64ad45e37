import Type, { type Static } from 'typebox'
import { requestLimits } from '../../../domain/limits.ts'
import type { ProjectRecord } from '../../../domain/records/project.ts'
import { Timestamp } from '../schemas.ts'

export const Project = Type.Object(
  {
    project_id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Project' },
)

const name = Type.String({
  maxLength: requestLimits.textLength,
  description: '1 to 100 characters, unique among your projects.',
})
const description = Type.Optional(Type.String({ maxLength: requestLimits.textLength }))

export const ProjectCreateRequest = Type.Object({ name, description }, { title: 'ProjectCreateRequest' })
export const ProjectUpdateRequest = Type.Object(
  { name: Type.Optional(name), description },
  { title: 'ProjectUpdateRequest' },
)
export const ProjectToken = Type.Object({ jwt_token: Type.String() }, { title: 'ProjectToken' })

export function showProject(project: ProjectRecord): Static<typeof Project> {
  return {
    project_id: project._id,
    name: project.name,
    description: project.description,
    created_at: project.created_at.toISOString(),
    updated_at: project.updated_at.toISOString(),
  }
}
