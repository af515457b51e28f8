import { Type } from 'typebox'
import type { Slice } from '../slice.ts'
import { pageRoutes } from './routes.ts'

export const pages: Slice = {
  name: 'pages',
  routes: ({ assets, pages: all }) => pageRoutes(assets, all),
  pages: [
    { path: '/', summary: 'Home: what is yours, and what needs you' },
    { path: '/compare', summary: 'Runs side by side' },
    { path: '/submit', summary: 'A new job' },
    { path: '/admin', summary: 'Administration' },
    {
      path: '/admin/{section}',
      summary: 'A part of the administration',
      params: Type.Object({ section: Type.String({ minLength: 1, maxLength: 32 }) }),
    },
    { path: '/settings', summary: 'Sessions, password, language and theme' },
    {
      path: '/api/ingest/mlflow/',
      summary: "Forwards from the addresses that MLflow's clients print to the pages of runs",
    },
  ],
  examples: { paths: { 'assets.file': 'index-B27Xlkrj.js', 'admin.section': 'audit' } },
}
