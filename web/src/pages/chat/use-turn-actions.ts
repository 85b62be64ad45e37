import { useState } from 'react'
import { useSame } from '../../lib/use-same.ts'
import type { TurnActions } from './turn.tsx'

/** The same functions in every render, so that turns are drawn again only when they change. */
export function useTurnActions({ onEdit, onRetry, onVersion, onSource }: TurnActions): TurnActions {
  const same = {
    onEdit: useSame(onEdit),
    onRetry: useSame(onRetry),
    onVersion: useSame(onVersion),
    onSource: useSame(onSource),
  }
  return useState(same)[0]
}
