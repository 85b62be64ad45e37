import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './lib/api.ts'
import { language } from './lib/language.ts'
// Every page asks for the role: in the first file, it is no file of its own.
import './lib/membership.ts'
import { applyTheme } from './lib/theme.ts'
import { router } from './router.tsx'
import './styles/tokens.css'
import './styles/base.css'
import './styles/parts.css'
import './styles/shell.css'
import { Toasts } from './ui/toasts.tsx'

applyTheme()
document.documentElement.lang = language
const root = document.querySelector('#root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Toasts />
      </QueryClientProvider>
    </StrictMode>,
  )
