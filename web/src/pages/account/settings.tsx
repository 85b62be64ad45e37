import { useNavigate } from '@tanstack/react-router'
import { Suspense, useId, useState } from 'react'
import { ApiError, type Schemas, api, keys, queryClient, unwrap, useMe } from '../../lib/api.ts'
import { changeLanguage } from '../../lib/change-language.ts'
import { type Language, language, languageName, languages } from '../../lib/language.ts'
import { knowsPasswordOf, logOut, tokenForReceipt } from '../../lib/session.ts'
import { type Theme, setTheme } from '../../lib/theme.ts'
import { say } from '../../lib/toasts.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { useTheme } from '../../lib/use-theme.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { passwordMessages } from '../../texts/password.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { Notice } from '../../ui/notice.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { Loading } from '../../ui/states.tsx'
import { ProgramLogins } from './logins.tsx'
import { SharedChats } from './shared-chats.tsx'

const PromptsDialog = lazyPart(() => import('../prompts-dialog.tsx'))
const t = texts.account

export function AccountSettings() {
  useTitle(t.settings)
  const me = useMe()
  const theme = useTheme()
  const [isDeleting, setDeleting] = useState(false)
  const [isManaging, setManaging] = useState(false)
  return (
    <div className="page">
      <header>
        <h1>{t.settings}</h1>
        <p className="muted">{t.settingsText}</p>
      </header>
      <Loading query={me} lines={6} />
      {me.data && (
        <>
          <Profile key={me.data.user_id} user={me.data} />
          {me.data.provider === 'email' && <ChangePassword email={me.data.email ?? ''} />}
          <section className="card form">
            <h2>{t.theme}</h2>
            <SelectField label={t.theme} value={theme} onValue={(value) => setTheme(value as Theme)}>
              {Object.entries(t.themes).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </SelectField>
          </section>
          <LanguageChoice />
          <section className="card stack-small">
            <h2>{texts.prompts.title}</h2>
            <p className="muted">{texts.prompts.text}</p>
            <div>
              <Button onClick={() => setManaging(true)}>{texts.prompts.manage}</Button>
            </div>
          </section>
          {isManaging && (
            <Suspense>
              <PromptsDialog onClose={() => setManaging(false)} />
            </Suspense>
          )}
          <ProgramLogins />
          <SharedChats />
          <section className="card stack-small">
            <h2>{t.deleteTitle}</h2>
            <p className="muted">{t.deleteText}</p>
            <div>
              <Button look="danger" onClick={() => setDeleting(true)}>
                {t.deleteAction}
              </Button>
            </div>
          </section>
          {isDeleting && <DeleteAccount email={me.data.email ?? ''} onClose={() => setDeleting(false)} />}
        </>
      )}
    </div>
  )
}

function LanguageChoice() {
  return (
    <section className="card form">
      <h2>{t.language}</h2>
      <SelectField
        label={t.language}
        help={t.languageHelp}
        value={language}
        onValue={(chosen) => void changeLanguage(chosen as Language)}
      >
        {languages.map((one) => (
          <option key={one} value={one} lang={one}>
            {languageName(one)}
          </option>
        ))}
      </SelectField>
    </section>
  )
}

type User = NonNullable<ReturnType<typeof useMe>['data']>

function Profile({ user }: { user: User }) {
  const [firstName, setFirstName] = useState(user.first_name ?? '')
  const [lastName, setLastName] = useState(user.last_name ?? '')
  const form = useSubmit(async () => {
    await unwrap(api.PATCH('/user/', { body: { first_name: firstName || null, last_name: lastName || null } }))
    await queryClient.invalidateQueries({ queryKey: keys.me })
    say(texts.saved)
  })
  return (
    <form className="card form" onSubmit={form.onSubmit}>
      <div className="spread">
        <h2>{t.profile}</h2>
        <span className="muted small">
          {t.logsInWith}: {t.provider[user.provider]}
        </span>
      </div>
      <TextField label={t.email} value={user.email ?? ''} readOnly />
      <div className="form-row">
        <TextField label={t.firstName} autoComplete="given-name" value={firstName} onValue={setFirstName} />
        <TextField label={t.lastName} autoComplete="family-name" value={lastName} onValue={setLastName} />
      </div>
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      <div>
        <Button type="submit" look="primary" busy={form.isBusy}>
          {texts.save}
        </Button>
      </div>
    </form>
  )
}

function ChangePassword({ email }: { email: string }) {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const form = useSubmit(async () => {
    await unwrap(api.POST('/user/change-password', { body: { current_password: current, new_password: next } }))
    knowsPasswordOf((await unwrap(api.GET('/user/'))).password_changed_at)
    setCurrent('')
    setNext('')
    say(passwordMessages.changed)
  })
  return (
    <form className="card form" onSubmit={form.onSubmit}>
      <h2>{passwordMessages.title}</h2>
      <p className="muted">{passwordMessages.ends}</p>
      <input type="text" hidden readOnly autoComplete="username" value={email} />
      <PasswordField
        label={passwordMessages.current}
        autoComplete="current-password"
        value={current}
        onValue={setCurrent}
      />
      <PasswordField
        label={t.newPassword}
        autoComplete="new-password"
        help={t.passwordHelp}
        value={next}
        onValue={setNext}
      />
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      <div>
        <Button type="submit" busy={form.isBusy}>
          {t.setPassword}
        </Button>
      </div>
    </form>
  )
}

function DeleteAccount({ email, onClose }: { email: string; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  /** Set once the service has asked what becomes of projects that others use. */
  const [choice, setChoice] = useState<Schemas['SharedProjects']>()
  const id = useId()
  const navigate = useNavigate()
  const form = useSubmit(async () => {
    const body = { email_confirmation: typed, ...(choice && { shared_projects: choice }) }
    const answer = await unwrap(api.DELETE('/auth/delete-user', { body })).catch((error: unknown) => {
      if (choice === undefined && error instanceof ApiError && error.status === 409) setChoice('hand_over')
      throw error
    })
    tokenForReceipt.keep(answer?.receipt_id)
    queryClient.clear()
    await navigate({ to: '/console/goodbye', replace: true })
    logOut()
  })
  return (
    <FormDialog
      title={t.deleteTitle}
      action={t.deleteAction}
      form={form}
      danger
      disabled={typed === ''}
      onClose={onClose}
    >
      <p className="muted">{t.deleteText}</p>
      {choice && (
        <fieldset className="field">
          <legend className="field-label">{t.deleteShared}</legend>
          {(['hand_over', 'delete'] as const).map((each) => (
            <div key={each} className="check">
              <input
                type="radio"
                name={id}
                id={`${id}-${each}`}
                checked={choice === each}
                onChange={() => setChoice(each)}
              />
              <label htmlFor={`${id}-${each}`}>{t.deleteSharedChoices[each]}</label>
            </div>
          ))}
        </fieldset>
      )}
      <TextField label={t.deleteConfirm} value={typed} onValue={setTyped} autoComplete="off" placeholder={email} />
    </FormDialog>
  )
}
