# fastdispatch_install_man_page(PAGE COMPONENT): installs a manual page with the project's version in it, compressed as
# Debian's policy wants it. A test compares the pages with the programs' --help.
function(fastdispatch_install_man_page page component)
  get_filename_component(name ${page} NAME)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${name})
  configure_file(${page} ${out} @ONLY)
  execute_process(COMMAND gzip -9nkf ${out} COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${out}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
endfunction()
