import { Eye, EyeOff } from 'lucide-react'
import { type ComponentProps, useState } from 'react'
import { texts } from '../texts/index.ts'
import { IconButton } from './button.tsx'
import { TextField } from './field.tsx'

const t = texts.account

/** A password, which can be shown while it is written. */
export function PasswordField(props: Omit<ComponentProps<typeof TextField>, 'type'>) {
  const [isShown, setShown] = useState(false)
  return (
    <div className="password">
      <TextField {...props} type={isShown ? 'text' : 'password'} required spellCheck={false} autoCapitalize="none" />
      <IconButton
        label={isShown ? t.hidePassword : t.showPassword}
        icon={isShown ? <EyeOff size={17} /> : <Eye size={17} />}
        onClick={() => setShown(!isShown)}
      />
    </div>
  )
}
