import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: 'plain' | 'primary' | 'danger' | 'ghost'
  size?: 'normal' | 'small'
  wide?: boolean
  busy?: boolean
  ref?: Ref<HTMLButtonElement>
}

export function Button({
  look = 'plain',
  size = 'normal',
  wide,
  busy,
  className = '',
  children,
  ...rest
}: ButtonProps) {
  const classes = ['button', look === 'plain' ? '' : `button-${look}`, size === 'small' ? 'button-small' : '']
  if (wide) classes.push('button-wide')
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled || busy}
      aria-busy={busy || undefined}
      className={[...classes, className].filter(Boolean).join(' ')}
    >
      {busy && <span className="spinner" aria-hidden="true" />}
      {children}
    </button>
  )
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** What the button does: its accessible name and its tooltip. */
  label: string
  icon: ReactNode
  ref?: Ref<HTMLButtonElement>
}

export function IconButton({ label, icon, className = '', ...rest }: IconButtonProps) {
  return (
    <button type="button" title={label} aria-label={label} {...rest} className={`button button-icon ${className}`}>
      {icon}
    </button>
  )
}
