import { useState } from 'react'
import { TextArea, TextField } from './field.tsx'

interface WritingProps {
  label: string
  help: string
  required: boolean
  type: 'text' | 'url'
  value: string
  onValue: (value: string) => void
}

const longestLine = 80

/** One line, or several if the text that is there has them: one line would drop its line breaks. */
export function WritingField({ type, value, ...shared }: WritingProps) {
  const [isLong] = useState(value.includes('\n') || (type === 'text' && value.length > longestLine))
  return isLong ? <TextArea {...shared} rows={6} value={value} /> : <TextField {...shared} type={type} value={value} />
}
