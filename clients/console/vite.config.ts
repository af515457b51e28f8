import react from '@vitejs/plugin-react'
import type { UserConfig } from 'vite'

/** The server that `npm run dev` passes requests of the API to. */
const server = process.env.FORGE_HOST ?? 'http://127.0.0.1:8080'

export default {
  root: import.meta.dirname,
  plugins: [react()],
  server: { proxy: { '/api': server } },
  build: {
    target: 'es2022',
    // Assets must have their own address: the policy of the pages allows `data:` for images alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
} satisfies UserConfig
