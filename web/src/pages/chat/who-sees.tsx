import { useId, useState } from 'react'
import { type Thread, api, keys, queryClient, unwrap, useMembers } from '../../lib/api.ts'
import { memberName } from '../../lib/group-name.ts'
import { useSession } from '../../lib/session.ts'
import { say } from '../../lib/toasts.ts'
import { useAttempt } from '../../lib/use-submit.ts'
import { peopleMessages } from '../../texts/people.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { GroupFace } from '../../ui/group-face.tsx'
import { Notice } from '../../ui/notice.tsx'

const t = peopleMessages.sees
const choices = ['private', 'read', 'continue'] as const
type Choice = (typeof choices)[number]

const helps = { private: t.privateHelp, read: t.readHelp, continue: t.continueHelp }

/** Whether a chat is private or the project sees it, and who that is. Only whoever made the chat may choose. */
export function WhoSees({ thread }: { thread: Thread }) {
  const { thread_id: tid, project_id: projectId, visibility, project_access: access } = thread
  const id = useId()
  const userId = useSession()?.userId
  const members = useMembers(projectId)
  const others = (members.data ?? []).filter(
    ({ user_id: user, group }) => group !== undefined || (user !== undefined && user !== userId),
  )
  /** Shown at once, until it is stored or has failed. */
  const [wanted, setWanted] = useState<Choice>()
  const now: Choice = wanted ?? (visibility === 'private' ? 'private' : access)
  const choose = async (choice: Choice) => {
    setWanted(choice)
    await store(choice).finally(() => setWanted(undefined))
  }
  const store = async (choice: Choice) => {
    const change =
      choice === 'private'
        ? { visibility: 'private' as const }
        : { visibility: 'project' as const, project_access: choice }
    await unwrap(api.PUT('/threads/{tid}', { params: { path: { tid } }, body: change }))
    await Promise.all(
      [keys.threads, keys.thread(tid), keys.state(tid)].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
    )
    say(t.saved[choice])
  }
  const choosing = useAttempt()
  return (
    <fieldset className="form">
      <legend className="visually-hidden">{t.title}</legend>
      <h3>{t.title}</h3>
      {choosing.problem && <Notice tone="danger">{choosing.problem}</Notice>}
      {choices.map((choice) => (
        <div key={choice} className="check">
          <input
            type="radio"
            name={`${id}-choice`}
            id={`${id}-${choice}`}
            checked={now === choice}
            aria-describedby={`${id}-${choice}-help`}
            onChange={() => void choosing.attempt(() => choose(choice))}
          />
          <div>
            <label htmlFor={`${id}-${choice}`}>{t[choice]}</label>
            <div className="field-help" id={`${id}-${choice}-help`}>
              {helps[choice]}
            </div>
          </div>
        </div>
      ))}
      {now !== 'private' && members.data && (
        <div className="stack-small">
          <p className="muted small">{others.length === 0 ? t.nobodyYet : t.who}</p>
          <ul className="people-line">
            {others.map((member) => (
              <li key={member.member_id} className="row small">
                {member.group ? (
                  <GroupFace id={member.group.group_id} size={22} />
                ) : (
                  <Avatar name={memberName(member)} id={member.user_id ?? member.member_id} size={22} />
                )}
                {memberName(member)}
              </li>
            ))}
          </ul>
        </div>
      )}
    </fieldset>
  )
}
