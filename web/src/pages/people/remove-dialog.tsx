import { useState } from 'react'
import { type Member, api, keys, queryClient, unwrap } from '../../lib/api.ts'
import { memberName } from '../../lib/group-name.ts'
import { say } from '../../lib/toasts.ts'
import { peopleMessages as t } from '../../texts/people.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { pathOf, refresh } from './members.ts'
import { type Choice, ThreadsChoice } from './threads-choice.tsx'

/** Removes a member, after asking what becomes of the private chats; those who go with a group keep theirs. */
export function RemoveDialog({
  projectId,
  member,
  onClose,
}: {
  projectId: string
  member: Member
  onClose: () => void
}) {
  const [choice, setChoice] = useState<Choice>('keep')
  const name = memberName(member)
  const remove = async () => {
    const { path } = pathOf(projectId, member).params
    const query = member.group ? {} : { private_threads: choice }
    await unwrap(api.DELETE('/projects/{project_id}/members/{member_id}', { params: { path, query } }))
    await refresh(projectId)
    await queryClient.invalidateQueries({ queryKey: keys.threads })
  }
  return (
    <ConfirmDialog
      title={t.removeTitle(name)}
      text={
        member.group ? (
          <p>{t.groups.removeText(name)}</p>
        ) : (
          <div className="stack-small">
            <p>{t.removeText(name)}</p>
            <ThreadsChoice
              value={choice}
              words={{ keep: t.threadsOf.keep(name), hand_over: t.threadsOf.handOver }}
              onValue={setChoice}
            />
          </div>
        )
      }
      action={t.removeAction}
      onConfirm={remove}
      onClose={onClose}
      onDone={() => say(t.removed(name))}
    />
  )
}
