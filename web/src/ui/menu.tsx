import { Check } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'

export interface MenuEntry {
  label: string
  /** A second line. */
  note?: string | undefined
  /** Whether it is what is chosen already. */
  isCurrent?: boolean
  /** Tells apart entries with the same label. */
  key?: string
  icon?: ReactNode
  danger?: boolean
  onSelect: () => void
}

/** A menu that opens from its child, a button. */
export function Menu({
  trigger,
  entries,
  align = 'end',
}: {
  trigger: ReactNode
  entries: (MenuEntry | 'line')[]
  align?: 'start' | 'end'
}) {
  return (
    // Not modal: that would add a style element, which the content security policy forbids.
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align={align} sideOffset={6} collisionPadding={8}>
          {entries.map((entry, place) =>
            entry === 'line' ? (
              <DropdownMenu.Separator key={place} className="menu-separator" />
            ) : (
              <DropdownMenu.Item
                key={entry.key ?? entry.label}
                className="menu-item"
                aria-current={entry.isCurrent || undefined}
                data-danger={entry.danger || undefined}
                onSelect={entry.onSelect}
              >
                {entry.icon}
                {entry.note === undefined ? (
                  entry.label
                ) : (
                  <span className="grow">
                    <span className="block">{entry.label}</span>
                    <span className="block muted small">{entry.note}</span>
                  </span>
                )}
                {entry.isCurrent && <Check size={16} aria-hidden="true" />}
              </DropdownMenu.Item>
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
