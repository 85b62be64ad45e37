import { useSyncExternalStore } from 'react'
import { type Theme, onTheme, readTheme } from './theme.ts'

export const useTheme = (): Theme => useSyncExternalStore(onTheme, readTheme)
