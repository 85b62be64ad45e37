import { useState } from 'react'
import { api, keys, queryClient, unwrap } from '../../lib/api.ts'
import { type AIMessage, textOfAnswer } from '../../lib/conversation.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/field.tsx'

const t = texts.chat

interface EditAnswerProps {
  threadId: string
  answer: AIMessage
  onClose: () => void
}

/** Changes what an answer says: the chat goes on from the changed text. */
export default function EditAnswer({ threadId, answer, onClose }: EditAnswerProps) {
  const [value, setValue] = useState(() => textOfAnswer(answer))
  const form = useSubmit(async () => {
    const changed = { ...answer, data: { ...answer.data, content: value } }
    await unwrap(api.POST('/threads/{tid}/state', { params: { path: { tid: threadId } }, body: { values: [changed] } }))
    await queryClient.invalidateQueries({ queryKey: keys.state(threadId) })
    onClose()
  })
  return (
    <FormDialog
      wide
      unsaved={value !== textOfAnswer(answer) && t.editLost}
      title={t.editAnswer}
      action={texts.save}
      form={form}
      disabled={value.trim() === ''}
      onClose={onClose}
    >
      <p className="muted small">{t.editAnswerText}</p>
      <TextArea label={t.answer} rows={14} value={value} onValue={setValue} />
    </FormDialog>
  )
}
