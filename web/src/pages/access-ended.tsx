import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type Project, useProjects } from '../lib/api.ts'
import { useMembership } from '../lib/membership.ts'
import { anotherOf, openProject } from '../lib/open-project.ts'
import { useSession } from '../lib/session.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { texts } from '../texts/index.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'

const t = texts.roles

/** Says that the user does not use the open project any more, and leads to another one. What was read stays below it. */
export function AccessEnded() {
  const { project, hasEnded } = useMembership()
  const projects = useProjects()
  const projectId = useSession()?.projectId
  const navigate = useNavigate()
  const [last, setLast] = useState<Project>()
  if (project !== undefined && project !== last) setLast(project)
  const next = anotherOf(projects.data, projectId)
  const going = useSubmit(async () => {
    if (next === undefined) return
    await openProject(next.project_id, next.name)
    await navigate({ to: '/console/chat' })
  })
  if (!hasEnded) return undefined
  return (
    <div className="access-ended">
      <Notice tone="danger">
        <div className="stack-small">
          <strong>
            {last !== undefined && last.project_id === projectId ? t.accessEndedTo(last.name) : t.accessEnded}
          </strong>
          <div>{next === undefined ? t.noProject : t.accessEndedText}</div>
          {going.problem && <div>{going.problem}</div>}
          {next !== undefined && (
            <div>
              <Button size="small" busy={going.isBusy} onClick={() => void going.submit()}>
                {t.goTo(next.name)}
              </Button>
            </div>
          )}
        </div>
      </Notice>
    </div>
  )
}
