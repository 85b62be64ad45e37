import type { UseQueryResult } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Notice } from './notice.tsx'
import { Loading } from './states.tsx'

/** A page with a list of things of which one more can be made. `children`: the list and its dialogs. */
export function ListPage({
  title,
  text,
  create,
  onCreate,
  why,
  query,
  isEmpty = false,
  children,
}: {
  title: string
  text: string
  create: string
  onCreate: () => void
  /** Why nothing can be made, in words; then that is not offered. */
  why?: string | undefined
  query: Pick<UseQueryResult, 'isPending' | 'isError' | 'error' | 'refetch'>
  /** Nothing is there: the list's place offers to make the first. */
  isEmpty?: boolean
  children: ReactNode
}) {
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1>{title}</h1>
          <p className="muted">{text}</p>
        </div>
        {!isEmpty && why === undefined && (
          <Button look="primary" onClick={onCreate}>
            <Plus size={17} aria-hidden="true" />
            {create}
          </Button>
        )}
      </header>
      {why !== undefined && <Notice>{why}</Notice>}
      <Loading query={query} lines={3} height={52} />
      {children}
    </div>
  )
}
