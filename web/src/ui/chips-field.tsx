import { X } from 'lucide-react'
import { type ClipboardEvent, type KeyboardEvent, useId, useRef, useState } from 'react'
import { composes } from '../lib/composes.ts'
import { texts } from '../texts/index.ts'

const t = texts.form

interface ChipsProps {
  label: string
  help: string
  /** What each entry must match; such entries hold no spaces and no commas. */
  pattern?: RegExp | undefined
  value: string[]
  onValue: (value: string[]) => void
}

/** A list of short texts. Enter, or leaving the field, adds what is written. */
export function ChipsField({ label, help, pattern, value, onValue }: ChipsProps) {
  const id = useId()
  const [text, setText] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const wrong = piecesOf(text, pattern).find((piece) => pattern?.test(piece) === false)
  const [isShown, setShown] = useState(false)
  const error = wrong !== undefined && isShown ? t.notAllowed(wrong) : undefined
  const add = (written: string) => {
    const pieces = piecesOf(written, pattern)
    const isRight = pieces.every((piece) => pattern?.test(piece) !== false)
    setText(isRight ? '' : written)
    setShown(!isRight)
    if (isRight && pieces.length > 0) onValue([...new Set([...value, ...pieces])])
  }
  const remove = (place: number) => {
    onValue(value.filter((_, other) => other !== place))
    input.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (composes(event.nativeEvent)) return
    if (event.key === 'Enter' && text.trim() !== '') {
      event.preventDefault()
      add(text)
    } else if (event.key === 'Backspace' && text === '' && value.length > 0) remove(value.length - 1)
  }
  const onPaste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData.getData('text')
    if (!pasted.trim().includes('\n')) return
    event.preventDefault()
    add(`${text}${pasted}`)
  }
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="input chips" data-invalid={error !== undefined}>
        {value.map((chip, place) => (
          <span key={chip} className="chip">
            <span className="truncate" title={chip}>
              {chip}
            </span>
            <button type="button" aria-label={t.remove(chip)} onClick={() => remove(place)}>
              <X size={13} aria-hidden="true" />
            </button>
          </span>
        ))}
        <input
          ref={(element) => {
            input.current = element
            element?.setCustomValidity(wrong === undefined ? '' : t.notAllowed(wrong))
          }}
          id={id}
          value={text}
          autoComplete="off"
          spellCheck={false}
          aria-describedby={error === undefined ? `${id}-help` : `${id}-help ${id}-error`}
          aria-invalid={error !== undefined || undefined}
          onChange={(event) => {
            setText(event.target.value)
            setShown(false)
          }}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          onBlur={() => add(text)}
        />
      </div>
      <div className="field-help" id={`${id}-help`}>
        {help} {t.chipsHelp}
      </div>
      {error !== undefined && (
        <div className="field-error" id={`${id}-error`}>
          {error}
        </div>
      )}
    </div>
  )
}

function piecesOf(text: string, pattern: RegExp | undefined): string[] {
  const pieces = text.split(pattern === undefined ? '\n' : /[\s,]+/)
  return pieces.map((piece) => piece.trim()).filter(Boolean)
}
