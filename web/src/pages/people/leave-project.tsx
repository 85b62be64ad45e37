import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type Project, api, keys, queryClient, unwrap } from '../../lib/api.ts'
import { anotherOf, openProject } from '../../lib/open-project.ts'
import { personName } from '../../lib/person.ts'
import { getSession } from '../../lib/session.ts'
import { say } from '../../lib/toasts.ts'
import { peopleMessages as t } from '../../texts/people.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { type Choice, ThreadsChoice } from './threads-choice.tsx'

interface LeaveProps {
  project: Project
  isHolder: boolean
  /** Whether a group gives the role, and nothing else does. */
  isThroughGroup: boolean
  /** Undefined until it is known. */
  memberId: string | undefined
}

/** Ends the own membership; the holder, and who is here through a group, are told why that is not possible. */
export function LeaveProject({ project, isHolder, isThroughGroup, memberId }: LeaveProps) {
  const { project_id: projectId, name, owner } = project
  const [isLeaving, setLeaving] = useState(false)
  const [choice, setChoice] = useState<Choice>('keep')
  const navigate = useNavigate()
  const leave = async () => {
    const path = { project_id: projectId, member_id: memberId ?? '' }
    const query = { private_threads: choice }
    await unwrap(api.DELETE('/projects/{project_id}/members/{member_id}', { params: { path, query } }))
  }
  const goOn = async () => {
    const next = anotherOf(queryClient.getQueryData<Project[]>(keys.projects), projectId)
    if (getSession()?.projectId === projectId && next !== undefined) await openProject(next.project_id)
    say(t.left(name))
    await navigate({ to: '/console/projects' })
    await queryClient.invalidateQueries({ queryKey: keys.projects })
  }
  return (
    <section className="card stack-small">
      <h2>{t.leave}</h2>
      <p className="muted">{isHolder ? t.holderCannotLeave : isThroughGroup ? t.groups.cannotLeave : t.leaveText}</p>
      {!isHolder && !isThroughGroup && (
        <div>
          <Button look="danger" disabled={memberId === undefined} onClick={() => setLeaving(true)}>
            {t.leave}
          </Button>
        </div>
      )}
      {isLeaving && (
        <ConfirmDialog
          title={t.leaveTitle(name)}
          text={
            <div className="stack-small">
              <p>{t.leaveText}</p>
              <ThreadsChoice
                value={choice}
                words={{ keep: t.ownThreads.keep, hand_over: t.ownThreads.handOver(personName(owner)) }}
                onValue={setChoice}
              />
            </div>
          }
          action={t.leaveAction}
          onConfirm={leave}
          onClose={() => setLeaving(false)}
          onDone={() => void goOn()}
        />
      )}
    </section>
  )
}
