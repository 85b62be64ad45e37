import { Ellipsis, FlaskConical, Pencil, Trash2 } from 'lucide-react'
import { assistantMessages } from '../../../texts/assistant.ts'
import { texts } from '../../../texts/index.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Switch } from '../../../ui/field.tsx'
import { Menu } from '../../../ui/menu.tsx'
import { type ToolSetting, kindOf, summaryOf, titleOf } from './kinds.tsx'

const t = assistantMessages.tools

interface RowProps {
  setting: ToolSetting
  isAvailable: boolean
  /** Whether all tools of the assistant ask. */
  asksAnyway: boolean
  onAsk: (isAsking: boolean) => void
  onEdit: () => void
  onTest: () => void
  onRemove: () => void
}

export function ToolRow({ setting, isAvailable, asksAnyway, onAsk, onEdit, onTest, onRemove }: RowProps) {
  const { Icon, isElsewhere } = kindOf(setting.type)
  const title = titleOf(setting)
  return (
    <li className="file-row tool-row">
      <Icon size={18} aria-hidden="true" />
      <button type="button" className="grow tool-open" onClick={onEdit}>
        <strong className="truncate block">{title}</strong>
        <span className="truncate block muted small">{isAvailable ? summaryOf(setting) : t.notSetUp}</span>
      </button>
      <div className="tool-row-actions">
        {!isElsewhere && (
          <span title={asksAnyway ? t.askAll : t.askHelp}>
            <Switch
              label={t.ask}
              name={t.askOf(title)}
              checked={asksAnyway || setting.ask === true}
              disabled={asksAnyway}
              onValue={onAsk}
            />
          </span>
        )}
        <Button size="small" aria-label={t.testOf(title)} onClick={onTest}>
          <FlaskConical size={15} aria-hidden="true" />
          {t.test}
        </Button>
        <Menu
          trigger={<IconButton label={texts.more(title)} icon={<Ellipsis size={18} />} />}
          entries={[
            { label: texts.edit, icon: <Pencil size={15} aria-hidden="true" />, onSelect: onEdit },
            {
              label: t.remove,
              danger: true,
              icon: <Trash2 size={15} aria-hidden="true" />,
              onSelect: onRemove,
            },
          ]}
        />
      </div>
    </li>
  )
}
