import type { ReactNode } from 'react'
import { DropdownMenu } from 'radix-ui'

export interface MenuEntry {
  label: string
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
                key={entry.label}
                className="menu-item"
                data-danger={entry.danger || undefined}
                onSelect={entry.onSelect}
              >
                {entry.icon}
                {entry.label}
              </DropdownMenu.Item>
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
