import { QueryClientProvider } from '@tanstack/react-query'
import { createRootRoute, createRoute, createRouter, Outlet, RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from '../src/api/queries.ts'
import { firstTexts, TextProvider } from '../src/text/text.tsx'
import { Forms } from './forms.tsx'
import { Lists } from './lists.tsx'
import { Marks } from './marks.tsx'
import '../src/style.css'

/** Every component in every state on one page, for tests and for development. Not part of the console. */
const root = createRootRoute({ component: Outlet })
const page = createRoute({
  getParentRoute: () => root,
  path: '$',
  component: () => (
    <main className="main">
      <Marks />
      <Forms />
      <Lists />
    </main>
  ),
})

const router = createRouter({
  routeTree: root.addChildren([page]),
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (query) => {
    const text = new URLSearchParams(Object.entries(query) as [string, string][]).toString()
    return text === '' ? '' : `?${text}`
  },
})

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
