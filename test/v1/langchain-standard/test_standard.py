"""LangChain's standard tests of a chat model and of embeddings, for its classes of OpenAI's interface."""

import os
from typing import Any

from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from langchain_tests.integration_tests import ChatModelIntegrationTests, EmbeddingsIntegrationTests

SERVER = {"base_url": os.environ["BASE_URL"], "api_key": os.environ["KEY"]}
CHAT = {"model": os.environ["MODEL"], "max_retries": 0, "stream_usage": True, **SERVER}


class Standard(ChatModelIntegrationTests):
    chat_model_class = ChatOpenAI
    chat_model_params: dict[str, Any] = CHAT
    supports_json_mode = True
    supports_image_inputs = True
    supports_pdf_inputs = True
    supports_anthropic_inputs = True


class TestChatCompletions(Standard):
    pass


class TestResponses(Standard):
    chat_model_params = {**CHAT, "use_responses_api": True}
    supports_image_tool_message = True
    supports_pdf_tool_message = True


class TestResponsesInLangChainsForm(Standard):
    chat_model_params = {**CHAT, "use_responses_api": True, "output_version": "v1"}
    supports_image_tool_message = True
    supports_pdf_tool_message = True


class TestEmbeddings(EmbeddingsIntegrationTests):
    embeddings_class = OpenAIEmbeddings
    embedding_model_params = {"model": os.environ["EMBEDDING_MODEL"], "check_embedding_ctx_length": False, **SERVER}
