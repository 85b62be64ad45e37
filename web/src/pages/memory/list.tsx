import { useQuery } from '@tanstack/react-query'
import { Brain, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type Schemas, api, keys, queryClient, unwrap } from '../../lib/api.ts'
import { formatDateTime } from '../../lib/format.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { memoryMessages as t } from '../../texts/memory.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/field.tsx'
import { ListPage } from '../../ui/list-page.tsx'
import { Empty } from '../../ui/states.tsx'
import { FactDialog } from './fact-dialog.tsx'
import { OwnerOptions, membersOf, ownerOf, useOwners } from './owner-options.tsx'

type Fact = Schemas['Memory']
type Opened = { what: 'edit' | 'delete'; fact: Fact } | 'new' | 'example'

const refresh = () => queryClient.invalidateQueries({ queryKey: keys.memory() })

/** The facts that the user's assistants keep: to read, to correct, and to delete. */
export function Memory() {
  useTitle(t.title)
  const [shown, setShown] = useState('')
  const facts = useQuery({
    queryKey: keys.memory(shown),
    queryFn: () => unwrap(api.GET('/memory/', { params: { query: { limit: 1000, ...membersOf(shown) } } })),
  })
  const owners = useOwners()
  const [opened, setOpened] = useState<Opened>()
  const close = () => setOpened(undefined)
  const list = facts.data ?? []
  const isEmpty = facts.data?.length === 0 && shown === ''
  return (
    <ListPage
      title={t.title}
      text={t.text}
      create={t.create}
      onCreate={() => setOpened('new')}
      query={facts}
      isEmpty={isEmpty}
    >
      {isEmpty ? (
        <Empty
          icon={<Brain size={32} aria-hidden="true" />}
          title={t.none}
          example={{ text: t.example, onChoose: () => setOpened('example') }}
        >
          <Button look="primary" onClick={() => setOpened('new')}>
            {t.create}
          </Button>
        </Empty>
      ) : (
        <SelectField label={t.show} value={shown} onValue={setShown}>
          <option value="">{t.all}</option>
          <OwnerOptions owners={owners} />
        </SelectField>
      )}
      {facts.data && list.length === 0 && !isEmpty && <p className="muted">{t.noneHere}</p>}
      {list.length > 0 && (
        <ul className="file-list">
          {list.map((fact) => (
            <FactRow
              key={fact.memory_id}
              fact={fact}
              owner={nameOf(fact, owners)}
              onOpen={(what) => setOpened({ what, fact })}
            />
          ))}
        </ul>
      )}
      {opened === 'new' && <FactDialog fact={undefined} onClose={close} onSaved={refresh} />}
      {opened === 'example' && <FactDialog fact={undefined} first={t.exampleFact} onClose={close} onSaved={refresh} />}
      {typeof opened === 'object' && opened.what === 'edit' && (
        <FactDialog fact={opened.fact} onClose={close} onSaved={refresh} />
      )}
      {typeof opened === 'object' && opened.what === 'delete' && (
        <ConfirmDialog
          title={t.deleteTitle}
          text={t.deleteText}
          action={texts.delete}
          onConfirm={async () => {
            const path = { memory_id: opened.fact.memory_id }
            await unwrap(api.DELETE('/memory/{memory_id}', { params: { path } }))
            await refresh()
          }}
          onClose={close}
        />
      )}
    </ListPage>
  )
}

function nameOf(fact: Fact, owners: ReturnType<typeof useOwners>): string {
  const owner = ownerOf(fact)
  return owner === '' ? t.everyAssistant : (owners.find(({ value }) => value === owner)?.label ?? t.gone)
}

function FactRow({ fact, owner, onOpen }: { fact: Fact; owner: string; onOpen: (what: 'edit' | 'delete') => void }) {
  const source = fact.source_message_id === null ? [] : [t.fromMessage]
  const origin = [fact.made_by === 'assistant' ? t.byAssistant : t.byUser, formatDateTime(fact.updated_at), ...source]
  return (
    <li className="file-row">
      <Brain size={18} aria-hidden="true" className="muted" />
      <div className="grow">
        <div>{fact.text}</div>
        <div className="muted small">{owner}</div>
        <div className="muted small">{origin.join(' · ')}</div>
      </div>
      <IconButton label={`${texts.edit}: ${fact.text}`} icon={<Pencil size={15} />} onClick={() => onOpen('edit')} />
      <IconButton
        label={`${texts.delete}: ${fact.text}`}
        icon={<Trash2 size={16} />}
        onClick={() => onOpen('delete')}
      />
    </li>
  )
}
