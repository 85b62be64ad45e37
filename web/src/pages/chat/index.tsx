import '../../styles/chat.css'

export { Chat } from './conversation.tsx'
export { NewChat } from './new-chat.tsx'
