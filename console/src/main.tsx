import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/queries.ts'
import { router } from './router.tsx'
import { applyTheme, keptTheme } from './shell/theme.ts'
import { firstTexts, TextProvider } from './text/text.tsx'
import './style.css'

applyTheme(keptTheme())

const spoken = await firstTexts()

createRoot(document.getElementById('console')!).render(
  <StrictMode>
    <TextProvider {...spoken}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </TextProvider>
  </StrictMode>,
)
