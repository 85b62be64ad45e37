import { applyTheme } from '../lib/theme.ts'

// The theme that was chosen in the console, before anything of the pages of the API is drawn.
applyTheme()
