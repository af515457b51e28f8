import '@fontsource-variable/geist/wght.css'
import './design/tokens.css'
import './design/base.css'
import './design/locale.ts'
import './design/theme.ts'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { router } from './router.tsx'
import { queries } from './session/api.ts'
import { basePath, belowBasePath } from './session/base-path.ts'
import { pageOfMlflow } from './shell/mlflow-address.ts'

/** An MLflow client of a person prints addresses of MLflow's own pages. */
const elsewhere = pageOfMlflow(belowBasePath(location.pathname), location.hash)
if (elsewhere !== null) location.replace(basePath + elsewhere)

// It may arrive before the page that it belongs to.
if (document.readyState === 'loading')
  await new Promise(resolve =>
    document.addEventListener('DOMContentLoaded', resolve, { once: true }),
  )
const place = document.getElementById('console')
if (!place) throw new Error('the page has no place for the console')

createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
