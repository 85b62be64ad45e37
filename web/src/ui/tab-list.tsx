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
    const show = () => {
      const row = list.current
      const tab = row?.querySelector('[data-state=active]')?.getBoundingClientRect()
      // Of the row alone: the page stays where it is.
      if (row && tab) row.scrollLeft += tab.left - row.getBoundingClientRect().left - (row.clientWidth - tab.width) / 2
    }
    show()
    // When a phone is turned.
    window.addEventListener('resize', show)
    return () => window.removeEventListener('resize', show)
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
