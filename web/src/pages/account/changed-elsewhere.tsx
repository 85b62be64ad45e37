import { passwordMessages } from '../../texts/password.ts'
import { Notice } from '../../ui/notice.tsx'

/** Says to somebody who was logged out that the password is another one now. */
export default function ChangedElsewhere() {
  return <Notice>{passwordMessages.changedElsewhere}</Notice>
}
