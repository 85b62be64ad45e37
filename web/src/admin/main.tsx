import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from '../lib/api.ts'
import { applyTheme } from '../lib/theme.ts'
import '../styles/tokens.css'
import '../styles/base.css'
import '../styles/parts.css'
import '../styles/shell.css'
import '../styles/operation.css'
import { locale } from '../texts/locale.ts'
import { Operation } from './operation.tsx'

applyTheme()
document.documentElement.lang = locale
const root = document.querySelector('#root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <Operation />
      </QueryClientProvider>
    </StrictMode>,
  )
