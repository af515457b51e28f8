import { buildConsole } from './build.ts'

// `npm run build`: what the first start of a server would do, ahead of it.
await buildConsole(text => console.log(text))
