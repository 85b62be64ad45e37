import { roleName, useMembership } from '../../lib/membership.ts'
import { texts } from '../../texts/index.ts'
import { Notice } from '../../ui/notice.tsx'

/** In place of the field for messages: why the user cannot write here. `maker`: who has shared the chat for reading. */
export function NoComposer({ maker }: { maker?: string | undefined }) {
  const { project, may } = useMembership()
  const reason =
    project === undefined
      ? texts.roles.ended
      : maker !== undefined && may('member')
        ? texts.roles.onlyRead(maker)
        : texts.roles.readOnly(roleName(project.role))
  return (
    <div className="composer-wrap">
      <Notice>{reason}</Notice>
    </div>
  )
}
