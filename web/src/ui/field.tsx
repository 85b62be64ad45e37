import {
  type ChangeEvent,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from 'react'
import { texts } from '../texts/index.ts'

interface FieldProps {
  label: string
  help?: ReactNode
  error?: string | undefined
}

function Field({ label, help, error, children }: FieldProps & { children: (ids: object) => ReactNode }) {
  const id = useId()
  const described = [help ? `${id}-help` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ')
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(described && { 'aria-describedby': described }),
        ...(error && { 'aria-invalid': true }),
      })}
      {help && (
        <div className="field-help" id={`${id}-help`}>
          {help}
        </div>
      )}
      {error && (
        <div className="field-error" id={`${id}-error`}>
          {error}
        </div>
      )}
    </div>
  )
}

type Changed<E> = { onValue?: (value: string) => void; mono?: boolean } & Omit<E, 'onChange'>

const classOf = (mono?: boolean) => (mono ? 'input input-mono' : 'input')
const listener =
  (onValue?: (value: string) => void) =>
  (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>) =>
    onValue?.(event.target.value)

export function TextField({
  label,
  help,
  error,
  onValue,
  mono,
  ...rest
}: FieldProps & Changed<InputHTMLAttributes<HTMLInputElement>>) {
  return (
    <Field label={label} help={help} error={error}>
      {(ids) => <input className={classOf(mono)} {...rest} {...ids} onChange={listener(onValue)} />}
    </Field>
  )
}

/** A form with an `error` in a text area is not sent. */
export function TextArea({
  label,
  help,
  error,
  onValue,
  mono,
  ...rest
}: FieldProps & Changed<TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  return (
    <Field label={label} help={help} error={error}>
      {(ids) => (
        <textarea
          ref={(element) => element?.setCustomValidity(error ?? '')}
          className={classOf(mono)}
          {...rest}
          {...ids}
          onChange={listener(onValue)}
        />
      )}
    </Field>
  )
}

export function SelectField({
  label,
  help,
  error,
  onValue,
  children,
  ...rest
}: FieldProps & Changed<SelectHTMLAttributes<HTMLSelectElement>>) {
  return (
    <Field label={label} help={help} error={error}>
      {(ids) => (
        <select className="input" {...rest} {...ids} onChange={listener(onValue)}>
          {children}
        </select>
      )}
    </Field>
  )
}

export function CheckField({
  label,
  help,
  checked,
  onValue,
}: FieldProps & { checked: boolean; onValue: (value: boolean) => void }) {
  const id = useId()
  return (
    <div className="check">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        aria-describedby={help ? `${id}-help` : undefined}
        onChange={(event) => onValue(event.target.checked)}
      />
      <div>
        <label htmlFor={id}>{label}</label>
        {help && (
          <div className="field-help" id={`${id}-help`}>
            {help}
          </div>
        )}
      </div>
    </div>
  )
}

/** A setting that is on or off. */
export function Switch({
  label,
  name,
  checked,
  disabled,
  onValue,
}: {
  label: string
  /** The accessible name where the label alone is not enough; begins with it. */
  name?: string
  checked: boolean
  disabled?: boolean
  onValue: (value: boolean) => void
}) {
  return (
    <label className="switch">
      <input
        type="checkbox"
        role="switch"
        aria-label={name}
        aria-checked={checked}
        checked={checked}
        disabled={disabled}
        onChange={(event) => onValue(event.target.checked)}
      />
      {label}
    </label>
  )
}

interface SwitchesProps {
  label: string
  help: string
  choices: string[]
  /** Undefined: all. */
  value: string[] | undefined
  onValue: (value: string[] | undefined) => void
}

/** Which of some choices are allowed; at least one. */
export function SwitchesField({ label, help, choices, value, onValue }: SwitchesProps) {
  const id = useId()
  const isOn = (choice: string) => value?.includes(choice) ?? true
  const set = (choice: string, isChosen: boolean) => {
    const next = choices.filter((other) => (other === choice ? isChosen : isOn(other)))
    if (next.length > 0) onValue(next.length === choices.length ? undefined : next)
  }
  return (
    <fieldset className="field" aria-describedby={help ? `${id}-help` : undefined}>
      <legend className="field-label">{label}</legend>
      <div className="switches">
        {choices.map((choice) => (
          <Switch key={choice} label={choice} checked={isOn(choice)} onValue={(isChosen) => set(choice, isChosen)} />
        ))}
      </div>
      {help && (
        <div className="field-help" id={`${id}-help`}>
          {help}
        </div>
      )}
    </fieldset>
  )
}

/** One file. What the browser itself writes on such fields is in its language, not in that of the page. */
export function FileField({
  label,
  help,
  error,
  onFile,
  ...rest
}: FieldProps & { onFile: (file: File | undefined) => void } & Pick<
    InputHTMLAttributes<HTMLInputElement>,
    'accept' | 'disabled'
  >) {
  const [name, setName] = useState('')
  return (
    <Field label={label} help={help} error={error}>
      {(ids) => (
        <div className="input file-field">
          <span className="button button-small" aria-hidden="true">
            {texts.chooseFile}
          </span>
          <span className={name ? 'truncate' : 'truncate muted'} aria-hidden="true">
            {name || texts.noFile}
          </span>
          <input
            {...rest}
            {...ids}
            type="file"
            onChange={({ target }) => {
              setName(target.files?.[0]?.name ?? '')
              onFile(target.files?.[0])
            }}
          />
        </div>
      )}
    </Field>
  )
}
