import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useModels } from '../ui/model-picker.tsx'

const seenKey = 'assistant-platform.model-page-seen'

/** Leads to the page about models once, while only the demo model answers. */
export function useFirstModel(): void {
  const navigate = useNavigate()
  const isDemo = useModels().data?.is_demo ?? false
  useEffect(() => {
    if (!isDemo || localStorage.getItem(seenKey) !== null) return
    localStorage.setItem(seenKey, 'true')
    void navigate({ to: '/console/model' })
  }, [isDemo, navigate])
}
