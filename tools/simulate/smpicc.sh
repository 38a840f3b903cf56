#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SimGrid's compiler wrapper for meson, which asks a compiler for its own version.
case " $* " in
*" --version "*) exec gcc --version ;;
esac
exec smpicc "$@"
