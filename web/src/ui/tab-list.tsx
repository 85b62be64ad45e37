import { Tabs } from 'radix-ui'
import { useEffect, useRef } from 'react'

interface TabListProps {
  label: string
  /** The value of each, and what is read. */
  tabs: readonly (readonly [value: string, label: string])[]
  /** The one that is open, where the page knows: it is brought into sight. */
  open?: string
}

/** The names of tabs, in one row that scrolls where it is too narrow. */
export function TabList({ label, tabs, open }: TabListProps) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.querySelector('[data-state=active]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [open])
  return (
    <Tabs.List ref={list} className="tabs" aria-label={label}>
      {tabs.map(([value, name]) => (
        <Tabs.Trigger key={value} value={value} className="tab">
          {name}
        </Tabs.Trigger>
      ))}
    </Tabs.List>
  )
}
